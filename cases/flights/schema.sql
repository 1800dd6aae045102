-- Flights between airports. Times are UTC.
CREATE TABLE airports (
    code        text PRIMARY KEY,   -- three letters, e.g. 'LIS'
    country     text NOT NULL,      -- in English
    elevation_m integer             -- metres above the sea; NULL: unknown
);
CREATE TABLE airlines (
    id   integer PRIMARY KEY,
    name text NOT NULL UNIQUE
);
CREATE TABLE aircraft (
    id           integer PRIMARY KEY,
    registration text NOT NULL UNIQUE,
    seats        integer,           -- NULL: unknown
    airline_id   integer NOT NULL REFERENCES airlines (id)
);
CREATE TABLE freighters (           -- the aircraft that carry goods
    aircraft_id integer PRIMARY KEY REFERENCES aircraft (id),
    payload_t   numeric(5, 1) NOT NULL  -- tonnes
);
CREATE TABLE routes (               -- one way; the way back is a route of its own, if there is one
    from_code   text NOT NULL REFERENCES airports (code),
    to_code     text NOT NULL REFERENCES airports (code),
    distance_km integer NOT NULL,
    PRIMARY KEY (from_code, to_code)
);
CREATE TABLE flights (
    id          integer PRIMARY KEY,
    from_code   text NOT NULL REFERENCES airports (code),
    to_code     text NOT NULL REFERENCES airports (code),
    aircraft_id integer REFERENCES aircraft (id),  -- NULL: unknown
    departs_at  timestamp NOT NULL,
    status      text NOT NULL CHECK (status IN ('landed', 'cancelled', 'diverted')),
    delay_min   integer             -- minutes; NULL: unknown
);
CREATE TABLE crew (
    id        integer PRIMARY KEY,
    name      text NOT NULL,        -- not unique
    base_code text REFERENCES airports (code)  -- the airport they are based at; NULL: unknown
);
CREATE TABLE crew_languages (       -- what they speak
    crew_id  integer NOT NULL REFERENCES crew (id),
    language text NOT NULL,         -- in English
    PRIMARY KEY (crew_id, language)
);
CREATE TABLE duties (               -- who worked on which flight
    flight_id integer NOT NULL REFERENCES flights (id),
    crew_id   integer NOT NULL REFERENCES crew (id),
    duty      text NOT NULL CHECK (duty IN ('captain', 'first officer', 'cabin')),
    PRIMARY KEY (flight_id, crew_id)
);
