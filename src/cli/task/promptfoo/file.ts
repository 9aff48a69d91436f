/** A promptfooconfig.yaml with the files that it names. */
import { CORE_SCHEMA, load, Type } from 'js-yaml';
import { dirname, extname, join, resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { ConfigError } from '../../../service/config.js';
import { isObject } from '../../../util/json.js';
import type { Files } from '../files.js';
import { FileFault, type Remedy } from './faults.js';

/** Dates stay texts; `<<` merges, as promptfoo's reader does. */
const merge = new Type('tag:yaml.org,2002:merge', {
  kind: 'scalar',
  resolve: (data: unknown) => data === '<<' || data === null,
});
const schema = CORE_SCHEMA.extend({ implicit: [merge] });

/** The value of YAML or JSON; throws a ConfigError that names `path`. */
export function parseYaml(text: string, path: string): unknown {
  try {
    return load(text, { schema });
  } catch (error) {
    throw new ConfigError(`${path} is not valid YAML: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** The file with the paths and faults of its parts. */
export class PromptfooFile {
  readonly #path: string;
  readonly #files: Files;
  constructor(path: string, files: Files) {
    this.#path = path;
    this.#files = files;
  }

  /** `remedy`: the option that resolves it; null: a change of the file. */
  fault(message: string, remedy: Remedy | null = null): FileFault {
    return new FileFault(`${this.#path} ${message}`, remedy);
  }

  get folder(): string {
    return dirname(this.#path);
  }

  /** The path that `file://` names; null: no such reference. */
  reference(value: unknown, folder = this.folder): string | null {
    if (typeof value !== 'string' || !value.startsWith('file://')) return null;
    return this.path(value, folder);
  }

  /** The path of a name, with or without `file://`. */
  path(name: string, folder = this.folder): string {
    const plain = name.replace(/^file:\/\//, '');
    return resolve(folder) === resolve('.') || plain.startsWith('/') ? plain : join(folder, plain);
  }

  text(path: string): Promise<string> {
    return this.#files.text(path, this.#path);
  }

  /** Null: there is no such file. */
  textIfThere(path: string): Promise<string | null> {
    return this.#files.textIfThere(path, this.#path);
  }

  /** YAML, of which JSON is a part, with its `$ref`s. */
  async read(path: string): Promise<unknown> {
    const value = parseYaml(await this.text(path), path);
    return resolved(value, value, this, 0);
  }

  /** The value of a `file://` reference to YAML or JSON; any other value as it is. */
  async value(given: unknown, what: string): Promise<unknown> {
    const path = this.reference(given);
    if (path === null) return given;
    if (!['.json', '.yaml', '.yml'].includes(extname(path)))
      throw this.fault(`has ${what} ${String(given)}; only .json and .yaml map`);
    return this.read(path);
  }

  /** The files of a pattern such as `prompts/*.txt`, sorted; the path itself without one. */
  async matches(path: string): Promise<string[]> {
    if (!/[*?[\]{}]/.test(path)) return [path];
    const plain = path.slice(0, path.search(/[*?[\]{}]/));
    const base = plain.slice(0, plain.lastIndexOf('/') + 1) || '.';
    await this.#files.check(base, this.#path);
    if (path.slice(base.length).includes('..')) throw this.fault(`has the pattern ${path}, which leaves its folder`);
    const found = await glob(path.slice(base === '.' ? 0 : base.length), { cwd: base, expandDirectories: false });
    if (found.length === 0) throw this.fault(`has the pattern ${path}, which no file matches`);
    return found.sort().map((name) => join(base, name));
  }
}

const maxRefs = 50;

/** A value with each `{$ref: '#/…'}` replaced by the value at its place in the same file. */
function resolved(value: unknown, root: unknown, file: PromptfooFile, depth: number): unknown {
  if (depth > maxRefs) throw file.fault('has $ref that lead to themselves, or nests too deep');
  if (Array.isArray(value)) return value.map((one) => resolved(one, root, file, depth + 1));
  if (!isObject(value)) return value;
  const { $ref: target } = value;
  // A JSON schema resolves its own.
  if (typeof target === 'string' && !/^#\/(?:\$defs|definitions)\//.test(target)) {
    if (!target.startsWith('#/')) throw file.fault(`has $ref ${target}; only places in the same file (#/…) map`);
    const keys = target
      .slice(2)
      .split('/')
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const found = keys.reduce<unknown>((at, key) => {
      if (Array.isArray(at)) return at[Number(key)] as unknown;
      return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }, root);
    if (found === undefined) throw file.fault(`has $ref ${target}, which names nothing`);
    return resolved(found, root, file, depth + 1);
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one, root, file, depth + 1)]));
}
