/** OpenAI's templates: `{{item.question}}` and `{{sample.output_text}}`. */
import { ConfigError } from '../../service/config.js';
import { evaluate, parseExpression, textOf } from '../task/promptfoo/expressions.js';

/** A text, or the path of an expression. */
export type TemplatePart = string | { source: string; keys: readonly string[]; isPlain: boolean };

const braces = /\{\{([^{}]*)\}\}/g;

/** Parts of a text; braces around what is neither `item` nor `sample` are literal. */
function templateParts(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const found of text.matchAll(braces)) {
    const source = found[1]!.trim();
    const expression = parseExpression(source);
    const keys = expression?.keys ?? null;
    if (!expression || keys === null || !['item', 'sample'].includes(keys[0]!)) continue;
    if (found.index > end) parts.push(text.slice(end, found.index));
    parts.push({ source, keys, isPlain: expression.filters.length === 0 });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** The one expression of a text, without filters; null: it has other parts. */
export function onlyPath(text: string): readonly string[] | null {
  const [only, ...others] = templateParts(text.trim());
  return typeof only === 'object' && others.length === 0 && only.isPlain ? only.keys : null;
}

/** The text for a row; undefined: the row lacks a value of it. */
export function filled(text: string, item: Record<string, unknown>): string | undefined {
  let lacks = false;
  const whole = templateParts(text)
    .map((part) => {
      if (typeof part === 'string') return part;
      const value = evaluate(parseExpression(part.source)!, { item });
      lacks ||= value === undefined || value === null;
      return textOf(value);
    })
    .join('');
  return lacks ? undefined : whole;
}

/** The value at a path below `item`; undefined: there is none. */
export function valueAt(item: Record<string, unknown>, keys: readonly string[]): unknown {
  return evaluate({ keys: ['item', ...keys], literal: undefined, filters: [] }, { item });
}

/**
 * The text with `{{column}}` in place of `{{item.column}}`; `columns` takes the path of each, also
 * one of several keys.
 */
export function withColumns(text: string, place: string, columns: Map<string, readonly string[]>): string {
  return templateParts(text)
    .map((part) => {
      if (typeof part === 'string') return part;
      const [root, ...keys] = part.keys;
      if (root === 'sample')
        throw new ConfigError(`${place} has {{${part.source}}} in its prompt, which is there only after the answer`);
      if (!part.isPlain)
        throw new ConfigError(`${place} has {{${part.source}}} in its prompt; write {{item.${keys.join('.')}}} alone`);
      const name = keys.length === 0 ? 'item' : keys.join('.');
      columns.set(name, keys);
      return `{{${name}}}`;
    })
    .join('');
}

/** The text as a judge reads it, who sees row and output beside it. */
export function inWords(text: string): string {
  return templateParts(text)
    .map((part) => {
      if (typeof part === 'string') return part;
      const [root, ...keys] = part.keys;
      if (root === 'sample') return keys[0] === 'output_text' ? '(the output)' : `(${keys.join('.')} of the output)`;
      return keys.length === 0 ? '(the row)' : `(${keys.join('.')} of the row)`;
    })
    .join('');
}
