-- An online shop. Money is in one currency with two decimals; times are UTC.

CREATE TABLE countries (
    code      text PRIMARY KEY,  -- ISO 3166 code of two letters, e.g. 'DE'
    name      text NOT NULL,     -- English name
    continent text NOT NULL
);

CREATE TABLE cities (
    id           integer PRIMARY KEY,
    name         text NOT NULL,  -- not unique
    country_code text NOT NULL REFERENCES countries (code)
);

CREATE TABLE categories (
    id        integer PRIMARY KEY,
    name      text NOT NULL,                      -- not unique
    parent_id integer REFERENCES categories (id)  -- NULL: top-level category
);

CREATE TABLE suppliers (
    id           integer PRIMARY KEY,
    name         text NOT NULL,                     -- not unique
    country_code text REFERENCES countries (code)   -- NULL: unknown
);

CREATE TABLE products (
    id           integer PRIMARY KEY,
    sku          text NOT NULL UNIQUE,
    name         text NOT NULL,                       -- not unique
    category_id  integer REFERENCES categories (id),  -- NULL: not categorised
    supplier_id  integer REFERENCES suppliers (id),   -- NULL: unknown
    price        numeric(10, 2) NOT NULL,             -- current list price
    weight_g     integer,                             -- grams; NULL: unknown or digital
    released_on  date NOT NULL,
    discontinued boolean NOT NULL
);

-- The products that are downloads; their other attributes are in products.
CREATE TABLE digital_products (
    product_id   integer PRIMARY KEY REFERENCES products (id),
    file_size_mb integer NOT NULL,
    license      text  -- 'single-user', 'family', 'classroom'; NULL: unknown
);

CREATE TABLE product_tags (
    product_id integer NOT NULL REFERENCES products (id),
    tag        text NOT NULL,
    PRIMARY KEY (product_id, tag)
);

CREATE TABLE warehouses (
    id      integer PRIMARY KEY,
    code    text NOT NULL UNIQUE,  -- three digits, e.g. '007'
    city_id integer NOT NULL REFERENCES cities (id)
);

CREATE TABLE stock_levels (
    warehouse_id integer NOT NULL REFERENCES warehouses (id),
    product_id   integer NOT NULL REFERENCES products (id),
    quantity     integer NOT NULL,  -- 0: sold out there
    PRIMARY KEY (warehouse_id, product_id)
);

CREATE TABLE users (
    id            integer PRIMARY KEY,
    handle        text NOT NULL UNIQUE,             -- public user name
    name          text NOT NULL,                    -- full name, not unique
    birth_date    date,                             -- NULL: unknown
    city_id       integer REFERENCES cities (id),   -- NULL: unknown
    postal_code   text,                             -- NULL: unknown
    registered_on date NOT NULL,
    newsletter    boolean NOT NULL,                 -- subscribed to the newsletter
    referred_by   integer REFERENCES users (id)     -- the user who referred this one; NULL: nobody
);

-- The users with a premium membership; their other attributes are in users.
CREATE TABLE premium_users (
    user_id integer PRIMARY KEY REFERENCES users (id),
    tier    text NOT NULL,            -- 'silver', 'gold', 'platinum'
    credit  numeric(10, 2) NOT NULL,  -- credit that can be spent
    since   date NOT NULL
);

CREATE TABLE user_emails (
    user_id integer NOT NULL REFERENCES users (id),
    email   text NOT NULL,
    PRIMARY KEY (user_id, email)
);

CREATE TABLE payment_cards (
    id      integer PRIMARY KEY,
    last4   text NOT NULL,  -- last four digits, e.g. '0042'
    network text NOT NULL   -- 'Visa', 'Mastercard', …
);

CREATE TABLE orders (
    id           integer PRIMARY KEY,
    user_id      integer NOT NULL REFERENCES users (id),
    placed_at    timestamp NOT NULL,
    status       text NOT NULL,  -- 'pending', 'paid', 'shipped', 'delivered', 'cancelled', 'returned'
    coupon       text,           -- coupon code; NULL: none used
    card_id      integer REFERENCES payment_cards (id),  -- NULL: not paid by card
    delivered_on date            -- NULL: not delivered (yet)
);

-- What was bought. One order may hold the same product in several lines, or no line at all.
CREATE TABLE order_lines (
    order_id   integer NOT NULL REFERENCES orders (id),
    line_no    integer NOT NULL,
    product_id integer NOT NULL REFERENCES products (id),
    quantity   integer NOT NULL,
    unit_price numeric(10, 2) NOT NULL,  -- price of one unit when it was ordered
    discount   numeric(10, 2),           -- amount taken off the whole line; NULL: none
    PRIMARY KEY (order_id, line_no)
);

-- follower_id follows followed_id.
CREATE TABLE follows (
    follower_id integer NOT NULL REFERENCES users (id),
    followed_id integer NOT NULL REFERENCES users (id),
    since       date NOT NULL,
    PRIMARY KEY (follower_id, followed_id)
);

CREATE TABLE reviews (
    id            integer PRIMARY KEY,
    user_id       integer NOT NULL REFERENCES users (id),
    product_id    integer NOT NULL REFERENCES products (id),
    rating        integer NOT NULL,  -- 1 (worst) to 5 (best)
    title         text,              -- NULL: none
    helpful_votes integer NOT NULL,
    posted_on     date NOT NULL
);

