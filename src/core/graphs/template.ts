/**
 * Templates: `{{name}}`, spaces allowed inside, stands for an input of the step; single braces are literal. A value is put in
 * once, and nothing in it is looked at.
 */
import { textOf, type Json } from './values.js';

/** What a template is made of: texts as they are, and names of inputs. */
export type TemplatePart = string | { name: string };

/** A template's parts, in order; joined again they say the same. */
export function parseTemplate(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const found of text.matchAll(/\{\{[ \t]*([A-Za-z][A-Za-z0-9_]*)[ \t]*\}\}/g)) {
    if (found.index > end) parts.push(text.slice(end, found.index));
    parts.push({ name: found[1]! });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** The names of a template's placeholders, each once, in order. */
export function placeholdersOf(text: string): string[] {
  return [...new Set(parseTemplate(text).flatMap((part) => (typeof part === 'string' ? [] : [part.name])))];
}

/** What looks like a placeholder and is none, since its name is no name: `{{a.b}}`; each as written. */
export function brokenPlaceholders(text: string): string[] {
  const literal = parseTemplate(text).filter((part) => typeof part === 'string');
  return [...new Set(literal.flatMap((part) => part.match(/\{\{[^{}]*\}\}/g) ?? []))];
}

/** The text with the values in it; null where that were longer than `maxChars`. */
export function renderTemplate(
  parts: readonly TemplatePart[],
  valueOf: (name: string) => Json,
  maxChars: number,
): string | null {
  const filled: string[] = [];
  return fill(parts, valueOf, maxChars, (text) => filled.push(text)) === null ? null : filled.join('');
}

/** The length of the text with the values in it, which is not made; null where it is above `maxChars`. */
export function templateLength(
  parts: readonly TemplatePart[],
  valueOf: (name: string) => Json,
  maxChars: number,
): number | null {
  return fill(parts, valueOf, maxChars, () => undefined);
}

function fill(
  parts: readonly TemplatePart[],
  valueOf: (name: string) => Json,
  maxChars: number,
  take: (text: string) => unknown,
): number | null {
  const texts = new Map<string, string>();
  let length = 0;
  for (const part of parts) {
    let text: string;
    if (typeof part === 'string') text = part;
    else {
      text = texts.get(part.name) ?? textOf(valueOf(part.name));
      texts.set(part.name, text);
    }
    length += text.length;
    if (length > maxChars) return null;
    take(text);
  }
  return length;
}
