"""Exact decimals with 19 fractional digits and a 64-bit whole part, as TypeDB stores them."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal

FRACTION_DIGITS = 19
_STEP = Decimal(1).scaleb(-FRACTION_DIGITS)
_HALF_STEP = _STEP / 2
_LIMIT = Decimal(2**63)
_WRAP = 2**64
# Wide enough for the exact product of two decimals of 19 + 19 digits each.
_EXACT = Context(prec=90, rounding=ROUND_FLOOR)


def add(left: Decimal, right: Decimal) -> Decimal:
    """Add; the whole part wraps around at 64 bits, as on the server."""
    return _wrapped(_EXACT.add(left, right))


def subtract(left: Decimal, right: Decimal) -> Decimal:
    """Subtract; the whole part wraps around at 64 bits."""
    return _wrapped(_EXACT.subtract(left, right))


def multiply(left: Decimal, right: Decimal) -> Decimal:
    """Multiply; the 20th fractional digit rounds half up, the whole part wraps at 64 bits."""
    product = _EXACT.multiply(left, right)
    exponent = product.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -FRACTION_DIGITS:
        product = _EXACT.add(product, _HALF_STEP).quantize(_STEP, context=_EXACT)
    return _wrapped(product)


def divide_by_count(total: Decimal, count: int) -> Decimal:
    """Divide by a whole number, cutting after 19 digits (used by ``mean`` and ``median``)."""
    scaled = int(total.scaleb(FRACTION_DIGITS, context=_EXACT))
    quotient = abs(scaled) // count
    return Decimal(quotient if scaled >= 0 else -quotient).scaleb(-FRACTION_DIGITS, context=_EXACT)


def absolute(value: Decimal) -> Decimal:
    """Return the absolute value; the smallest decimal stays itself, as 64-bit parts wrap."""
    return value if value >= 0 else _wrapped(_EXACT.minus(value))


def to_double(value: Decimal) -> float:
    """Convert to a double part by part, as the server does."""
    whole = value.to_integral_value(rounding=ROUND_FLOOR)
    fraction = _EXACT.subtract(value, whole)
    return float(whole) + float(int(fraction.scaleb(FRACTION_DIGITS, context=_EXACT))) / 1e19


def floor_step(value: float) -> Decimal:
    """Return the largest decimal the server takes to lie at or above a double.

    TypeDB 3.12 bounds decimals by the double's whole part plus one smallest step if there is a
    fraction, so that ``has price 19.9`` finds nothing where ``19.9dec`` would.
    """
    whole = Decimal(int(value // 1))
    return whole if value == value // 1 else whole + _STEP


def _wrapped(value: Decimal) -> Decimal:
    if -_LIMIT <= value < _LIMIT:
        return value
    whole = int(value.to_integral_value(rounding=ROUND_FLOOR))
    fraction = _EXACT.subtract(value, Decimal(whole))
    return _EXACT.add(Decimal((whole + 2**63) % _WRAP - 2**63), fraction)
