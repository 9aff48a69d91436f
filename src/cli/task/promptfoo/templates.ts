/**
 * Templates of a promptfoo file. Literals, vars, paths and filters without code are read, and
 * `{% raw %}`; other Nunjucks is refused, as nothing of it is taken literally.
 */
import { isObject } from '../../../util/json.js';
import { parseTemplate } from '../../../core/prompts/template.js';
import { evaluate, parseExpression, textOf, type Expression, type Vars } from './expressions.js';
import type { Remedy } from './faults.js';
import type { PromptfooFile } from './file.js';

/** A text, or an expression with its source. */
type Part = string | { source: string; expression: Expression };

const tag =
  // eslint-disable-next-line regexp/no-super-linear-move -- the user's own file
  /\{%-?\s*raw\s*-?%\}([^]*?)\{%-?\s*endraw\s*-?%\}|\{#[^]*?#\}|\{%[^]*?%\}|\{\{(?!-)((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?!\}\})[^])*?)\}\}|\{\{[^]{0,60}/g;

/** The parts of a text; throws for what only Nunjucks renders. */
function partsOf(file: PromptfooFile, text: string, where: string, option: Remedy | null): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const found of text.matchAll(tag)) {
    const [whole, raw, source] = found;
    parts.push(text.slice(end, found.index));
    end = found.index + whole.length;
    if (raw !== undefined) parts.push(raw);
    else if (!whole.startsWith('{#')) {
      const expression = source === undefined ? null : parseExpression(source);
      const remedy = where === 'its prompt' ? ', or name another prompt with --prompt FILE' : '';
      if (!expression)
        throw file.fault(
          `has ${whole} in ${where}, which only promptfoo renders; write {{name}} or {{name.path}}${remedy}`,
          option,
        );
      if (expression.keys?.[0] === 'env')
        throw file.fault(`has ${whole} in ${where}; the environment is not read: write its value`, option);
      parts.push(expression.keys === null ? textOf(evaluate(expression, {})) : { source: source!.trim(), expression });
    }
  }
  return [...parts, text.slice(end)];
}

export interface MessageText {
  /** With its literals; each of `names` in double braces is a column. */
  content: string;
  names: string[];
  /** What stands in double braces as a text. */
  literals: string[];
}

/** The text of a prompt's message; throws for what only Nunjucks renders. */
export function messageText(file: PromptfooFile, text: string): MessageText {
  const parts = partsOf(file, text, 'its prompt', 'prompt');
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.source]));
  const odd = names.find((name) => /[{}]/.test(name));
  if (odd !== undefined)
    throw file.fault(
      `has {{${odd}}} in its prompt, whose braces do not map; name a prompt with --prompt FILE`,
      'prompt',
    );
  const content = parts.map((part) => (typeof part === 'string' ? part : `{{${part.source}}}`)).join('');
  const left = [...names];
  const literals = parseTemplate(content, () => true).flatMap((part) => {
    const at = typeof part === 'string' ? 0 : left.indexOf(part.name);
    if (typeof part === 'string' || at < 0) return typeof part === 'string' ? [] : [part.name];
    left.splice(at, 1);
    return [];
  });
  return { content, names, literals };
}

/** The value of an expression for the vars; undefined: there is none. */
export function valueOf(vars: Vars, source: string): unknown {
  const expression = parseExpression(source);
  return expression ? evaluate(expression, vars) : undefined;
}

/** A text with the values of the vars; throws for a var that the test lacks. */
function rendered(file: PromptfooFile, text: string, vars: Vars, where: string): string {
  return partsOf(file, text, where, 'scorer')
    .map((part) => {
      if (typeof part === 'string') return part;
      const value = evaluate(part.expression, vars);
      if (value === undefined) throw file.fault(`has {{${part.source}}} in ${where}, which is no var of it`, 'scorer');
      return textOf(value);
    })
    .join('');
}

/** A value with all of its texts rendered. */
export function renderedValue(file: PromptfooFile, value: unknown, vars: Vars, where: string): unknown {
  if (typeof value === 'string') return rendered(file, value, vars, where);
  if (Array.isArray(value)) return value.map((one) => renderedValue(file, one, vars, where));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, renderedValue(file, one, vars, where)]));
}

const named = /\{\{\s*([\p{L}_$][\p{L}\p{N}_$]*)/gu;

/**
 * Vars whose texts may name other vars, as in promptfoo: once, in any order, and without the line
 * break at their end.
 */
export function renderedVars(file: PromptfooFile, vars: Vars, where: string): Record<string, unknown> {
  const known = (text: string) => [...text.matchAll(named)].some(([, name]) => Object.hasOwn(vars, name!));
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => {
      if (typeof value !== 'string') return [name, value];
      // A text that names no var is data, such as code with braces.
      const text = known(value) ? rendered(file, value, vars, `${name} in ${where}`) : value;
      return [name, text.replace(/\n$/, '')];
    }),
  );
}
