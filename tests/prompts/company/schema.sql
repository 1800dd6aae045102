CREATE TABLE departments (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE employees (
    id            integer PRIMARY KEY,
    name          text NOT NULL,
    department_id integer REFERENCES departments (id),
    manager_id    integer REFERENCES employees (id),
    salary        integer NOT NULL,
    bonus         integer,
    hired_at      timestamp NOT NULL
);
