/** Longest answer in characters, besides the parts that are given whole. */
const maxAnswer = 8_000;

/** Longest text and list; the first of them that makes the answer fit is used. */
const cuts = [
  { chars: 4_000, items: 100 },
  { chars: 1_000, items: 50 },
  { chars: 400, items: 25 },
  { chars: 200, items: 25 },
  { chars: 100, items: 25 },
  { chars: 50, items: 25 },
  { chars: 30, items: 10 },
  { chars: 15, items: 3 },
];
type Cut = (typeof cuts)[number];

interface Bounds {
  /** Fields that are not cut, such as a prompt that is wanted word by word. */
  whole?: readonly string[];
  /** Instead of `maxAnswer`. */
  max?: number;
}

/**
 * The result of a tool: JSON as text, which every client shows to its model. Long texts and lists
 * are cut so that it fits, however many rows a job has.
 */
export function answer(value: object, { whole = [], max = maxAnswer }: Bounds = {}) {
  const fields = Object.entries(value);
  const kept = fields.filter(([name]) => whole.includes(name));
  const rest = Object.fromEntries(fields.filter(([name]) => !whole.includes(name)));
  const drafts = cuts.map((cut) => () => shortened(rest, cut));
  const fitting = drafts.find((draft) => JSON.stringify(draft()).length <= max) ?? drafts.at(-1)!;
  return {
    content: [
      { type: 'text' as const, text: JSON.stringify({ ...(fitting() as object), ...Object.fromEntries(kept) }) },
    ],
  };
}

/** Marks of tools that change nothing. */
export const reads = { readOnlyHint: true };

function shortened(value: unknown, cut: Cut): unknown {
  if (typeof value === 'string') return shortText(value, cut.chars);
  if (Array.isArray(value)) {
    const items = value.slice(0, cut.items).map((item) => shortened(item, cut));
    return value.length > cut.items ? [...items, `… ${value.length - cut.items} more`] : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shortened(part, cut)]));
}

/** Ids and URLs are shorter than `exempt` and useless when cut. */
const exempt = 120;

function shortText(text: string, chars: number): string {
  if (text.length <= Math.max(chars, /\s/.test(text) ? 0 : exempt)) return text;
  const shown = text.slice(0, chars).toWellFormed();
  return `${shown}… (${text.length} characters)`;
}
