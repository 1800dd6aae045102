-- Rows of the tables that schema.sql made.
INSERT INTO teams (id, name) VALUES
    (1, 'Blue'),
    (2, 'Green'),
    (3, 'Red'),
    (4, 'White');
INSERT INTO people (id, name, team_id, joined_on, hours) VALUES
    (1, 'Ada', 1, '2022-05-02', 40),
    (2, 'Ben', 1, '2023-12-31', 32),
    (3, 'Cem', 2, '2024-01-01', NULL),
    (4, 'Dia', 2, '2024-02-15', 20),
    (5, 'Eve', 3, '2024-06-01', 30),
    (6, 'Fay', NULL, '2024-07-01', 38),
    (7, 'Gus', 1, '2023-03-20', 31),
    (8, 'Ada', 3, '2021-11-08', 24);
