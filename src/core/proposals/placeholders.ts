/**
 * The rule for every text that a search, a merge or a person puts in place of another: it has the
 * placeholders of the text that it replaces, none more and none fewer.
 */
import type { RowsSpec } from '../jobs/spec.js';
import { columnFinder, inputsOf } from '../prompts/row-template.js';
import { bracedNames, isPlainName, placeholderNames } from '../prompts/template.js';
import { maxProposalChars } from './limits.js';

/** null: the prompt of a container, which fills it by rules of its own. */
export type TextRows = Pick<RowsSpec, 'placeholders' | 'columns'> | null;

const longestShown = 80;

/** Why a text cannot replace `parent`, as the end of a sentence about it; null: it can. */
export function placeholderProblem(text: string, parent: string, rows: TextRows): string | null {
  const before = guarded(parent, parent, rows);
  const after = guarded(text, parent, rows);
  const missing = [...before].filter((placeholder) => !after.has(placeholder));
  if (missing.length > 0) return `lacks the placeholder ${missing.join(', ')} of its parent`;
  const literal = rows ? new Set(bracedNames(parent).map(written)) : before;
  const [added] = [...after].filter((placeholder) => !literal.has(placeholder));
  if (added === undefined) return null;
  const known = before.size > 0 ? `has only ${[...before].join(', ')}` : 'has no placeholder';
  return `adds ${added.slice(0, longestShown)}, which is no input: the text that it replaces ${known}`;
}

/** The first problem of texts by component, with its component; null: none. */
export function textsProblem(
  texts: Readonly<Record<string, string>>,
  parents: Readonly<Record<string, string>>,
  rows: TextRows,
): { component: string; problem: string } | null {
  for (const [component, text] of Object.entries(texts)) {
    const parent = Object.hasOwn(parents, component) ? parents[component]! : '';
    if (text === parent) continue;
    const problem = placeholderProblem(text, parent, rows) ?? lengthProblem(text, parent);
    if (problem !== null) return { component, problem };
  }
  return null;
}

export function lengthProblem(text: string, parent: string): string | null {
  const most = maxProposalChars(parent);
  return text.length > most ? `has ${text.length} characters; at most ${most} are allowed` : null;
}

/** Placeholders, and in a new text what only reads as one. */
function guarded(text: string, parent: string, rows: TextRows): Set<string> {
  if (!rows) return containerPlaceholders(text, (parent.match(/(?<!\{)\{[^{}\n]*\}(?!\})/g) ?? []).some(isField));
  const isInput = inputsOf(rows.placeholders);
  if (text === parent) return new Set(placeholderNames(text, isInput).map(written));
  const columnOf = columnFinder(rows.columns, '');
  const reads = (name: string) => isInput(name) || isPlainName(name) || columnOf(name) !== null;
  return new Set(bracedNames(text).filter(reads).map(written));
}

/** `{{name}}`, and `{name}` where the parent has any, as written. */
function containerPlaceholders(text: string, hasSingle: boolean): Set<string> {
  const found = text.match(/\{\{[^{}]*\}\}|\{[^{}\n]*\}/g) ?? [];
  const reads = (one: string) =>
    one.startsWith('{{') ? isContainerName(one.slice(2, -2).trim()) : hasSingle && isField(one);
  return new Set(found.filter(reads));
}

/** A path of names or indexes, also with the filters of Jinja: `x.y[0] | trim`. */
function isContainerName(name: string): boolean {
  const [path, ...filters] = name.split('|').map((part) => part.trim());
  const names = path!.replaceAll(/\[(?:\d+|'[^']*'|"[^"]*")\]/g, '').split('.');
  return names.every(isPlainName) && filters.every((filter) => /^\p{L}[\p{L}\p{N}_]*(?:\(.*\))?$/u.test(filter));
}

/** A field of Python's `format`: a name, then attributes, an index, a conversion and a form. */
const field = /^\{[\p{L}_][\p{L}\p{M}\p{N}_.]*(?:\[[^[\]]*\])?(?:![rsa])?(?::[<>=^+#\d.,_%-]*[A-Za-z%]?)?\}$/u;

function isField(text: string): boolean {
  return field.test(text);
}

function written(name: string): string {
  return `{{${name}}}`;
}
