"""Values of TypeQL: their types, their arithmetic, their comparison and how they are printed.

Inside the engine a value is a plain Python object whose class tells its type:

===========  ==========================================
TypeQL       Python
===========  ==========================================
boolean      ``bool``
integer      ``int`` (64 bits, checked by the operators)
double       ``float``
decimal      ``decimal.Decimal`` (19 fractional digits)
string       ``str``
date         :class:`~qeval.typeql.values.temporal.Date`
datetime     :class:`~qeval.typeql.values.temporal.DateTime`
datetime-tz  :class:`~qeval.typeql.values.temporal.DateTimeTz`
duration     :class:`~qeval.typeql.values.temporal.Duration`
===========  ==========================================
"""

from qeval.typeql.values.kinds import VALUE_TYPES, Value, ValueType, order_key, value_type_of
from qeval.typeql.values.printing import show
from qeval.typeql.values.temporal import Date, DateTime, DateTimeTz, Duration

__all__ = [
    "VALUE_TYPES",
    "Date",
    "DateTime",
    "DateTimeTz",
    "Duration",
    "Value",
    "ValueType",
    "order_key",
    "show",
    "value_type_of",
]
