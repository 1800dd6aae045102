"""Names, places and wares the generator draws from (all text in Unicode form NFC)."""

COUNTRIES: tuple[tuple[str, str, str], ...] = (
    ("AU", "Australia", "Oceania"),
    ("BR", "Brazil", "South America"),
    ("CA", "Canada", "North America"),
    ("CI", "Côte d'Ivoire", "Africa"),
    ("CN", "China", "Asia"),
    ("DE", "Germany", "Europe"),
    ("EG", "Egypt", "Africa"),
    ("ES", "Spain", "Europe"),
    ("FR", "France", "Europe"),
    ("GB", "United Kingdom", "Europe"),
    ("IE", "Ireland", "Europe"),
    ("IS", "Iceland", "Europe"),
    ("JP", "Japan", "Asia"),
    ("MX", "Mexico", "North America"),
    ("PL", "Poland", "Europe"),
    ("US", "United States", "North America"),
)

# The same name in two countries: a city is known by its id, not by its name.
CITIES: tuple[tuple[str, str], ...] = (
    ("Berlin", "DE"), ("München", "DE"), ("Leipzig", "DE"), ("Hamburg", "DE"),
    ("Paris", "FR"), ("Lyon", "FR"), ("Nîmes", "FR"),
    ("London", "GB"), ("Cambridge", "GB"), ("Birmingham", "GB"),
    ("Cambridge", "US"), ("Birmingham", "US"), ("Paris", "US"), ("New York", "US"),
    ("Dublin", "IE"), ("Dublin", "US"), ("London", "CA"), ("Montréal", "CA"),
    ("上海", "CN"), ("北京", "CN"), ("成都", "CN"), ("القاهرة", "EG"),
    ("Łódź", "PL"), ("Kraków", "PL"), ("São Paulo", "BR"), ("Mérida", "MX"), ("Mérida", "ES"),
    ("A Coruña", "ES"), ("東京", "JP"), ("Sydney", "AU"), ("Abidjan", "CI"),
)  # fmt: skip

GIVEN: tuple[str, ...] = (
    "Ada", "Amélie", "Björn", "Carlos", "Chloë", "Daniel", "Elif", "Emma", "François", "Grace",
    "Hannah", "Igor", "Jürgen", "Kwame", "Lucía", "Łukasz", "Maria", "Noah", "Olivia", "Priya",
    "Renée", "Siobhán", "Tomás", "Ursula", "Zoë",
)  # fmt: skip
FAMILY: tuple[str, ...] = (
    "Álvarez", "Brown", "D'Angelo", "Dubois", "García", "Ivanov", "Johansson", "Kowalski",
    "Lovelace", "Martin", "Müller", "Nguyễn", "O'Connor", "Okafor", "O'Neill", "Patel", "Schmidt",
    "Silva", "Smith", "St. John", "van der Berg", "Yılmaz",
)  # fmt: skip
WHOLE_NAMES: tuple[str, ...] = (
    "王芳", "李伟", "张伟", "刘洋", "陈静", "فاطمة الزهراء", "محمد علي", "佐藤 さくら", "Cher",
    "Null", "N/A",
)  # fmt: skip
HANDLE_FIRST: tuple[str, ...] = (
    "amber", "bold", "calm", "dusty", "eager", "fuzzy", "green", "happy", "icy", "jolly", "kind",
    "lucky", "misty", "noble", "odd", "proud", "quiet", "rapid", "sunny", "tiny",
)  # fmt: skip
HANDLE_SECOND: tuple[str, ...] = (
    "badger", "cedar", "dolphin", "eagle", "fox", "gecko", "heron", "ibis", "jackal", "koala",
    "lynx", "maple", "newt", "otter", "panda", "quail", "raven", "seal", "tiger", "wolf",
)  # fmt: skip
EMAIL_DOMAINS: tuple[str, ...] = ("example.com", "example.org", "example.net", "mail.example")

# (name, index of the parent or None). Several branches hold a category of the same name; some
# categories stay without products on purpose, one of them without children too.
CATEGORIES: tuple[tuple[str, int | None], ...] = (
    ("Electronics", None),      # 0
    ("Home", None),             # 1
    ("Fashion", None),          # 2
    ("Media", None),            # 3
    ("Gift Cards", None),       # 4: empty
    ("Computers", 0),           # 5
    ("Audio", 0),               # 6
    ("Phones", 0),              # 7
    ("Laptops", 5),             # 8
    ("Gaming Laptops", 8),      # 9
    ("Accessories", 5),         # 10
    ("Headphones", 6),          # 11
    ("Accessories", 6),         # 12
    ("Accessories", 7),         # 13
    ("Kitchen", 1),             # 14
    ("Furniture", 1),           # 15
    ("Tea & Coffee", 14),       # 16
    ("Cookware", 14),           # 17
    ("茶具", 16),               # 18
    ("Women's Shoes", 2),       # 19
    ("Men's Shoes", 2),         # 20
    ("Hats", 2),                # 21
    ("Books", 3),               # 22
    ("Games", 3),               # 23
    ("Music", 3),               # 24
    ("Fantasy", 22),            # 25
    ("Cook Books", 22),         # 26
    ("Audio Books", 22),        # 27: empty
    ("Strategy Games", 23),     # 28
    ("Vinyl", 24),              # 29
)  # fmt: skip
STOCKED_CATEGORIES: tuple[int, ...] = (
    0, 5, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29,
)  # fmt: skip
DIGITAL_CATEGORIES: tuple[int, ...] = (22, 23, 24, 25, 26, 28)

ADJECTIVES: tuple[str, ...] = (
    "Classic", "Compact", "Deluxe", "Eco", "Foldable", "Little", "Modern", "Pocket", "Pro",
    "Quiet", "Smart", "Vintage",
)  # fmt: skip
NOUNS: tuple[tuple[str, ...], ...] = (
    ("Speaker", "Charger", "Adapter", "Keyboard", "Cable 2 m", "Screen"),
    ("Lamp", "Tea Pot", "Pan", "Chair", "Mug ☕", "茶壶"),
    ("Sandal", "Boot", "Beret", "Sneaker", "Fédora", "Children's Cap"),
    ("Album", "Atlas", "Saga", "Puzzle 🧩", "Cook Book", "Stories"),
)
TAGS: tuple[str, ...] = (
    "bestseller", "cotton", "eco", "fragile", "gift", "handmade", "limited", "new", "sale",
    "summer", "tea", "travel", "vegan", "winter", "限量",
)  # fmt: skip
LICENSES: tuple[str, ...] = ("single-user", "family", "classroom")
SUPPLIERS: tuple[str, ...] = (
    "Acme Trading", "Bright & Sons", "Casa Verde", "Delta Wholesale", "École du Son",
    "Fjord Goods", "Globex", "Hügel GmbH", "Initech", "Jade 玉石 Co.", "Kestrel Media",
    "O'Hara's Mill", "Acme Trading", "Umbra",
)  # fmt: skip
TIERS: tuple[str, ...] = ("silver", "gold", "platinum")
STATUSES: tuple[str, ...] = ("pending", "paid", "shipped", "delivered", "cancelled", "returned")
COUPONS: tuple[str, ...] = ("WELCOME10", "SPRING", "SUMMER25", "FRIEND", "VIP")
NETWORKS: tuple[str, ...] = ("Visa", "Mastercard", "Amex", "银联")
REVIEW_TITLES: tuple[str, ...] = (
    "Great value", "Not what I ordered", "Love it ❤️", "Didn't last", "很好用", "Okay",
    "ممتاز", "Très bien", "100% recommended", "Broken on arrival", "As described",
)  # fmt: skip
