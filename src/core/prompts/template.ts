/**
 * The rule for placeholders: `{{name}}`, white space around the name allowed, is a placeholder if
 * `name` is an input; all other braces are literal. Inserted values are not scanned.
 */
export type TemplatePart = string | { name: string };

/** The inputs of a text. */
export type IsInput = (name: string) => boolean;

const braces = /\{\{([^{}]*)\}\}/g;
const plainName = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_ -]*$/u;
const graphName = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Inputs of graphs: the names of a step's inputs; validation refuses other names of this form. */
export const isGraphInput: IsInput = (name) => graphName.test(name);

/** Words in any script, which read as the name of an input: braces around them are no accident. */
export function isPlainName(name: string): boolean {
  return plainName.test(name);
}

export function parseTemplate(text: string, isInput: IsInput): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const found of text.matchAll(braces)) {
    const name = found[1]!.trim();
    if (!isInput(name)) continue;
    if (found.index > end) parts.push(text.slice(end, found.index));
    parts.push({ name });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** What double braces enclose, inputs or not: distinct, trimmed, in order. */
export function bracedNames(text: string): string[] {
  return [...new Set([...text.matchAll(braces)].map(([, inside]) => inside!.trim()))];
}

/** The distinct placeholders of a text, in order. */
export function placeholderNames(text: string, isInput: IsInput): string[] {
  return bracedNames(text).filter(isInput);
}

/** Renders a template; null if the result exceeds `maxChars`. */
export function renderTemplate(
  parts: readonly TemplatePart[],
  valueOf: (name: string) => string,
  maxChars: number,
): string | null {
  const filled: string[] = [];
  return fill(parts, valueOf, maxChars, (text) => filled.push(text)) === null ? null : filled.join('');
}

/** The length of the rendered template without rendering it; null if it exceeds `maxChars`. */
export function templateLength(
  parts: readonly TemplatePart[],
  valueOf: (name: string) => string,
  maxChars: number,
): number | null {
  return fill(parts, valueOf, maxChars, () => undefined);
}

function fill(
  parts: readonly TemplatePart[],
  valueOf: (name: string) => string,
  maxChars: number,
  take: (text: string) => unknown,
): number | null {
  const texts = new Map<string, string>();
  let length = 0;
  for (const part of parts) {
    let text: string;
    if (typeof part === 'string') text = part;
    else {
      text = texts.get(part.name) ?? valueOf(part.name);
      texts.set(part.name, text);
    }
    length += text.length;
    if (length > maxChars) return null;
    take(text);
  }
  return length;
}
