// Decimals as text, exact: digits are counted in whole units of the last place. For what a form
// says before it is sent; amounts of the ledger come from the gateway.

const shape = /^(-?)(\d{1,15})(?:\.(\d{1,9}))?$/;

// Whole units, and how many places they have; null of what is no decimal.
function parsed(text) {
  const match = shape.exec(text ?? "");
  if (!match) return null;
  const [, sign, whole, fraction = ""] = match;
  return { units: BigInt(`${sign}${whole}${fraction}`), places: fraction.length };
}

export const isPositive = (text) => (parsed(text)?.units ?? 0n) > 0n;
export const isWhole = (text) => /^\d{1,15}$/.test(text ?? "");

// price × quantity with all its digits; null where one of them is no decimal.
export function product(one, other) {
  const [left, right] = [parsed(one), parsed(other)];
  if (!left || !right) return null;
  const units = left.units * right.units;
  const places = left.places + right.places;
  const digits = String(units < 0n ? -units : units).padStart(places + 1, "0");
  const end = digits.length - places;
  const sign = units < 0n ? "-" : "";
  return places ? `${sign}${digits.slice(0, end)}.${digits.slice(end)}` : `${sign}${digits}`;
}

// Whether one is more than the other; false where one of them is no decimal.
export function exceeds(one, other) {
  const [left, right] = [parsed(one), parsed(other)];
  if (!left || !right) return false;
  const places = Math.max(left.places, right.places);
  const scaled = ({ units, places: own }) => units * 10n ** BigInt(places - own);
  return scaled(left) > scaled(right);
}
