/** Prompts in a folder, so that a process that starts in an outage has them. Not in browsers. */
import { RatchetError } from './errors.js';
import type { PromptData } from './prompt.js';

export interface KnownPrompt {
  etag: string;
  prompt: PromptData;
}

interface Kept extends KnownPrompt {
  url: string;
  ref: string;
}

/** The prompts of a service in a folder, which processes may share. */
export class PromptFiles {
  private readonly folder: string;
  private readonly url: string;

  constructor(folder: string, url: string) {
    this.folder = folder;
    this.url = url;
  }

  /** The kept prompt of a reference; null: none, or one that cannot be read, which is a warning. */
  async read(ref: string): Promise<KnownPrompt | null> {
    const { fs } = builtins();
    const path = await this.pathOf(ref);
    try {
      const kept = JSON.parse(await fs.readFile(path, 'utf8')) as Partial<Kept>;
      if (
        kept.ref !== ref ||
        kept.url !== this.url ||
        !Array.isArray(kept.prompt?.messages) ||
        typeof kept.etag !== 'string'
      )
        throw new Error('it is no prompt of this service');
      return { etag: kept.etag, prompt: kept.prompt };
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOENT') warn(`The prompt in ${path} cannot be read`, error);
      return null;
    }
  }

  /** Keeps a prompt; the file appears whole. A failure is a warning: the prompt is in memory. */
  async write(ref: string, known: KnownPrompt): Promise<void> {
    const { fs } = builtins();
    const path = await this.pathOf(ref);
    const draft = `${path}.${globalThis.crypto.randomUUID()}.part`;
    const kept: Kept = { url: this.url, ref, ...known };
    try {
      await fs.mkdir(this.folder, { recursive: true, mode: 0o700 });
      await fs.writeFile(draft, JSON.stringify(kept), { mode: 0o600, flag: 'wx' });
      await fs.rename(draft, path);
    } catch (error) {
      warn(`The prompt was not kept in ${path}`, error);
      await fs.rm(draft, { force: true }).catch((left: unknown) => warn(`${draft} was left`, left));
    }
  }

  private async pathOf(ref: string): Promise<string> {
    const bytes = new TextEncoder().encode(`${this.url}\n${ref}`);
    const hash = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', bytes));
    const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return builtins().path.join(this.folder, `${hex}.json`);
  }
}

/** The modules of the runtime, which bundlers for browsers need not resolve. */
function builtins() {
  const load = globalThis.process?.getBuiltinModule;
  if (!load) throw new RatchetError('folder: this runtime has no files.', { code: 'no_files' });
  return { fs: load('node:fs/promises'), path: load('node:path') };
}

function warn(what: string, error: unknown): void {
  globalThis.process.emitWarning(
    `${what}: ${error instanceof Error ? error.message : String(error)}`,
    'RatchetWarning',
  );
}
