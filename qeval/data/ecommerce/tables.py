"""The neutral tables of the e-commerce data.

`users`/`premium_users` and `products`/`digital_products` are supertype and subtype;
`product_tags` and `user_emails` are multi-valued attributes; `follows`, `stock_levels` and
`order_lines` are relations with attributes; `users.referred_by` and `categories.parent_id` make
trees.
"""

from datetime import date

from qeval.data.model import Field, TableModel

REFERENCE_DATE = date(2025, 6, 30)
FIRST_DATE = date(2023, 1, 1)


def _id(name: str = "id", references: str | None = None, *, nullable: bool = False) -> Field:
    return Field(name, "int", nullable=nullable, references=references)


def _text(name: str, *, nullable: bool = False, references: str | None = None) -> Field:
    return Field(name, "string", nullable=nullable, references=references)


def _money(name: str, *, nullable: bool = False) -> Field:
    return Field(name, "decimal", nullable=nullable, scale=2)


TABLES: tuple[TableModel, ...] = (
    TableModel("countries", (_text("code"), _text("name"), _text("continent")), ("code",)),
    TableModel(
        "cities",
        (_id(), _text("name"), _text("country_code", references="countries.code")),
        ("id",),
    ),
    TableModel(
        "categories",
        (_id(), _text("name"), _id("parent_id", "categories.id", nullable=True)),
        ("id",),
    ),
    TableModel(
        "suppliers",
        (_id(), _text("name"), _text("country_code", nullable=True, references="countries.code")),
        ("id",),
    ),
    TableModel(
        "products",
        (
            _id(),
            _text("sku"),
            _text("name"),
            _id("category_id", "categories.id", nullable=True),
            _id("supplier_id", "suppliers.id", nullable=True),
            _money("price"),
            Field("weight_g", "int", nullable=True),
            Field("released_on", "date"),
            Field("discontinued", "bool"),
        ),
        ("id",),
    ),
    TableModel(
        "digital_products",
        (
            _id("product_id", "products.id"),
            Field("file_size_mb", "int"),
            _text("license", nullable=True),
        ),
        ("product_id",),
    ),
    TableModel(
        "product_tags", (_id("product_id", "products.id"), _text("tag")), ("product_id", "tag")
    ),
    TableModel("warehouses", (_id(), _text("code"), _id("city_id", "cities.id")), ("id",)),
    TableModel(
        "stock_levels",
        (
            _id("warehouse_id", "warehouses.id"),
            _id("product_id", "products.id"),
            Field("quantity", "int"),
        ),
        ("warehouse_id", "product_id"),
    ),
    TableModel(
        "users",
        (
            _id(),
            _text("handle"),
            _text("name"),
            Field("birth_date", "date", nullable=True),
            _id("city_id", "cities.id", nullable=True),
            _text("postal_code", nullable=True),
            Field("registered_on", "date"),
            Field("newsletter", "bool"),
            _id("referred_by", "users.id", nullable=True),
        ),
        ("id",),
    ),
    TableModel(
        "premium_users",
        (_id("user_id", "users.id"), _text("tier"), _money("credit"), Field("since", "date")),
        ("user_id",),
    ),
    TableModel("user_emails", (_id("user_id", "users.id"), _text("email")), ("user_id", "email")),
    TableModel("payment_cards", (_id(), _text("last4"), _text("network")), ("id",)),
    TableModel(
        "orders",
        (
            _id(),
            _id("user_id", "users.id"),
            Field("placed_at", "datetime"),
            _text("status"),
            _text("coupon", nullable=True),
            _id("card_id", "payment_cards.id", nullable=True),
            Field("delivered_on", "date", nullable=True),
        ),
        ("id",),
    ),
    TableModel(
        "order_lines",
        (
            _id("order_id", "orders.id"),
            Field("line_no", "int"),
            _id("product_id", "products.id"),
            Field("quantity", "int"),
            _money("unit_price"),
            _money("discount", nullable=True),
        ),
        ("order_id", "line_no"),
    ),
    TableModel(
        "follows",
        (
            _id("follower_id", "users.id"),
            _id("followed_id", "users.id"),
            Field("since", "date"),
        ),
        ("follower_id", "followed_id"),
    ),
    TableModel(
        "reviews",
        (
            _id(),
            _id("user_id", "users.id"),
            _id("product_id", "products.id"),
            Field("rating", "int"),
            _text("title", nullable=True),
            Field("helpful_votes", "int"),
            Field("posted_on", "date"),
        ),
        ("id",),
    ),
)
