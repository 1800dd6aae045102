-- Rows of the tables that schema.sql made.
INSERT INTO teams (id, name) VALUES
    (1, 'Blue'),
    (2, 'Green'),
    (3, 'Green'),
    (4, 'Empty');
INSERT INTO people (id, name, team_id, joined_on, hours) VALUES
    (1, 'Ada', 1, '2024-01-01', 30),
    (2, 'Ben', 1, '2023-12-31', 31),
    (3, 'Cem', 2, '2024-01-01', NULL),
    (4, 'Dia', 2, '2024-01-02', NULL),
    (5, 'Eve', 3, '2023-12-31', 29),
    (6, 'Fay', NULL, '2024-01-01', NULL);
