/** A promptfooconfig.yaml with the files that it names. */
import { dirname, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { ConfigError } from '../../../config.js';
import type { Files } from '../files.js';

/** The file with the paths and faults of its parts. */
export class PromptfooFile {
  readonly #path: string;
  readonly #files: Files;
  constructor(path: string, files: Files) {
    this.#path = path;
    this.#files = files;
  }

  fault(message: string): ConfigError {
    return new ConfigError(`${this.#path} ${message}`);
  }

  get folder(): string {
    return dirname(this.#path);
  }

  /** The path that `file://` names; null: no such reference. */
  reference(value: unknown): string | null {
    if (typeof value !== 'string' || !value.startsWith('file://')) return null;
    return join(this.folder, value.slice('file://'.length));
  }

  text(path: string): Promise<string> {
    return this.#files.text(path, this.#path);
  }

  /** YAML, of which JSON is a part. */
  async read(path: string): Promise<unknown> {
    const text = await this.text(path);
    try {
      return parseYaml(text) as unknown;
    } catch (error) {
      throw new ConfigError(`${path} is not valid YAML: ${(error as Error).message.split('\n')[0]}`);
    }
  }
}
