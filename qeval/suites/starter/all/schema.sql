-- Teams and people.
CREATE TABLE teams (
    id   integer PRIMARY KEY,
    name text NOT NULL            -- not unique
);
CREATE TABLE people (
    id        integer PRIMARY KEY,
    name      text NOT NULL,
    team_id   integer REFERENCES teams (id),  -- NULL: in no team
    joined_on date NOT NULL,
    hours     integer             -- a week; NULL: unknown
);
