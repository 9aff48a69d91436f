/**
 * Templates: an input replaces `{{name}}` (spaces inside the braces are allowed); single braces are
 * literal. Inserted values are not scanned for placeholders.
 */
export type TemplatePart = string | { name: string };

/** A placeholder with the name of an input. */
const inputPlaceholder = /\{\{[ \t]*([A-Za-z][A-Za-z0-9_]*)[ \t]*\}\}/g;
/** A placeholder with any name, such as that of a column. */
export const columnPlaceholder = /\{\{\s*([^{}\s](?:[^{}]*[^{}\s])?)\s*\}\}/g;

export function parseTemplate(text: string, placeholder: RegExp = inputPlaceholder): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const found of text.matchAll(placeholder)) {
    if (found.index > end) parts.push(text.slice(end, found.index));
    parts.push({ name: found[1]! });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** The distinct placeholder names of a template, in order. */
export function placeholderNames(text: string, placeholder?: RegExp): string[] {
  const parts = parseTemplate(text, placeholder);
  return [...new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name])))];
}

/** Placeholder-like texts with an invalid name, such as `{{a.b}}`. */
export function brokenPlaceholders(text: string): string[] {
  const literal = parseTemplate(text).filter((part) => typeof part === 'string');
  return [...new Set(literal.flatMap((part) => part.match(/\{\{[^{}]*\}\}/g) ?? []))];
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
