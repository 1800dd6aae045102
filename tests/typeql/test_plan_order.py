"""Plans that must not multiply rows by scans of a few values."""

from qeval.typeql import Database

SCHEMA = """
define
  attribute number, value integer;
  attribute quantity, value integer;
  attribute price, value integer;
  attribute state, value string;
  entity item, owns number @key, plays line:item, plays filing:item;
  entity shelf, owns number @key, plays filing:shelf;
  entity sale, owns number @key, owns state, plays line:sale;
  relation line, relates item, relates sale, owns quantity, owns price;
  relation filing, relates item, relates shelf;
"""


def test_a_long_step_along_an_index_comes_before_scans() -> None:
    """Few quantities and prices look cheaper to scan than the 60 lines of each item to walk."""
    database = Database()
    database.define(SCHEMA)
    with database.bulk() as bulk:
        items = [bulk.entity("item", {"number": n}) for n in range(60)]
        shelves = [bulk.entity("shelf", {"number": n}) for n in range(30)]
        for n, item in enumerate(items):
            bulk.relation("filing", {"item": item, "shelf": shelves[n % 30]})
        for n in range(1200):
            sale = bulk.entity("sale", {"number": n, "state": "ab"[n % 2]})
            for k in range(3):
                players = {"item": items[(7 * n + k) % 60], "sale": sale}
                bulk.relation("line", players, {"quantity": 1 + n % 5, "price": n % 50})
    query = """
      match
        $s isa sale, has state "a";
        $l isa line, links (sale: $s, item: $i), has quantity $q, has price $p;
        filing (item: $i, shelf: $f);
        $f has number $n;
      reduce $c = count;
    """
    answer = database.query(query, max_steps=60_000)
    assert [[value.try_get_value() for value in row if value] for row in answer.rows] == [[1800]]
