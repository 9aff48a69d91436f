/** Templates of a promptfoo file: `{{name}}` and `{{name.path}}`; other Nunjucks is refused. */
import { canonicalJson, isObject } from '../../../util/json.js';
import { parseTemplate, placeholderNames, type IsInput } from '../../../core/prompts/template.js';
import type { PromptfooFile } from './file.js';

type Vars = Readonly<Record<string, unknown>>;

/** Nunjucks reads all double braces. */
const anyName: IsInput = () => true;

const plainName = /^[\p{L}_$][\p{L}\p{N}_$-]*(?:\.[\p{L}\p{N}_$-]+)*$/u;
/** What Nunjucks would read beside the placeholders. */
const open = /\{\{[^]{0,60}/;
const block = /\{%[^]*?%\}|\{#[^]*?#\}/;

/** The names in a text's placeholders; throws for what only Nunjucks renders. */
export function namesIn(file: PromptfooFile, text: string, where: string): string[] {
  const names = placeholderNames(text, anyName);
  const odd = names.find((name) => !plainName.test(name));
  const rest = parseTemplate(text, anyName)
    .filter((part) => typeof part === 'string')
    .join('');
  const found = odd === undefined ? (block.exec(text) ?? open.exec(rest))?.[0] : `{{${odd}}}`;
  const remedy = where === 'its prompt' ? ', or name another prompt with --prompt FILE' : '';
  if (found !== undefined)
    throw file.fault(
      `has ${found} in ${where}, which only promptfoo renders; write {{name}} or {{name.path}}${remedy}`,
    );
  const env = names.find((name) => name.startsWith('env.'));
  if (env !== undefined) throw file.fault(`has {{${env}}} in ${where}; the environment is not read: write its value`);
  return names;
}

/** The value of a var, or of a path in it; undefined: there is none. */
export function valueOf(vars: Vars, name: string): unknown {
  if (Object.hasOwn(vars, name)) return vars[name];
  return name.split('.').reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return at[Number(key)] as unknown;
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, vars);
}

/** A text with the values of the vars; throws for a var that the test lacks. */
function rendered(file: PromptfooFile, text: string, vars: Vars, where: string): string {
  namesIn(file, text, where);
  const textOf = (name: string) => {
    const value = valueOf(vars, name);
    if (value === undefined) throw file.fault(`has {{${name}}} in ${where}, which is no var of it`);
    return typeof value === 'string' ? value : value === null ? '' : canonicalJson(value);
  };
  return parseTemplate(text, anyName)
    .map((part) => (typeof part === 'string' ? part : textOf(part.name)))
    .join('');
}

/** A value with all of its texts rendered. */
export function renderedValue(file: PromptfooFile, value: unknown, vars: Vars, where: string): unknown {
  if (typeof value === 'string') return rendered(file, value, vars, where);
  if (Array.isArray(value)) return value.map((one) => renderedValue(file, one, vars, where));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, renderedValue(file, one, vars, where)]));
}

/** Vars whose texts may name other vars, as in promptfoo: once, in any order. */
export function renderedVars(file: PromptfooFile, vars: Vars, where: string): Record<string, unknown> {
  const known = (text: string) => placeholderNames(text, anyName).some((name) => valueOf(vars, name) !== undefined);
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) =>
      // A text that names no var is data, such as code with braces.
      typeof value === 'string' && known(value)
        ? [name, rendered(file, value, vars, `${name} in ${where}`)]
        : [name, value],
    ),
  );
}
