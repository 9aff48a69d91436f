/** Prompts in memory: fresh, then stale while one request asks for news, then through an outage. */
import { RatchetError } from './errors.js';
import type { Operations } from './operations.js';
import { Prompt, type PromptFallback } from './prompt.js';
import { PromptFiles, type KnownPrompt } from './prompt-files.js';

export interface PromptOptions {
  /** Default: what the name serves. */
  label?: string | undefined;
  /** In place of a label. */
  version?: number | undefined;
  /** Seconds for which a prompt is taken from memory. 0: ask each time. Default: 60. */
  ttl?: number | undefined;
  /** Keeps the prompt in this folder, for a start while the service cannot be reached. */
  folder?: string | undefined;
  /** Used if the service cannot be reached and no prompt is known. */
  fallback?: PromptFallback | undefined;
}

interface Entry {
  known: KnownPrompt | null;
  prompt: Prompt | null;
  /** When the service last said what the prompt is. */
  askedAt: number;
  /** After a failure, not before. */
  nextAt: number;
  /** The service refused the last question. */
  isRefused: boolean;
  failure: unknown;
  asking: Promise<void> | null;
}

const defaultTtl = 60;
/** Between two questions while the service does not answer. */
const pauseMs = 5_000;
/** Of a question to which an answer is at hand. */
const hastyMs = 5_000;

export class Prompts {
  private readonly client: Operations;
  private readonly entries = new Map<string, Entry>();

  constructor(client: Operations) {
    this.client = client;
  }

  /** The prompt of a name; rejects with the refusal, or if none is known in an outage. */
  async get(name: string, { label, version, ttl = defaultTtl, folder, fallback }: PromptOptions = {}): Promise<Prompt> {
    const ref = refOf(name, label, version);
    const files = folder === undefined ? null : new PromptFiles(folder, this.client.baseUrl);
    const entry = this.entries.get(ref) ?? newEntry();
    this.entries.set(ref, entry);
    const now = performance.now();
    if (entry.prompt && !entry.isRefused && ttl > 0) {
      if (now - entry.askedAt >= ttl * 1_000 && now >= entry.nextAt)
        void this.ask(ref, entry, { files, isHasty: true });
      return entry.prompt;
    }
    const isHasty = entry.prompt !== null || files !== null || fallback !== undefined;
    const isPaused = isHasty && !entry.isRefused && now < entry.nextAt;
    if (!isPaused) await this.ask(ref, entry, { files, isHasty });
    if (entry.isRefused) throw entry.failure;
    if (entry.prompt) return entry.prompt;
    const kept = await files?.read(ref);
    if (entry.prompt) return entry.prompt;
    if (kept) return take(entry, kept, new Prompt(name, kept.prompt, 'file'));
    if (fallback) return new Prompt(name, fallback, 'fallback');
    throw entry.failure;
  }

  /** Asks the service, once for all who wait. Never rejects. */
  private ask(ref: string, entry: Entry, how: { files: PromptFiles | null; isHasty: boolean }): Promise<void> {
    entry.asking ??= this.exchange(ref, entry, how).finally(() => (entry.asking = null));
    return entry.asking;
  }

  private async exchange(
    ref: string,
    entry: Entry,
    { files, isHasty }: { files: PromptFiles | null; isHasty: boolean },
  ): Promise<void> {
    const limits = isHasty ? { maxRetries: 0, timeoutMs: hastyMs } : {};
    try {
      const found = await this.client.readPrompt(ref, entry.known?.etag, limits);
      entry.isRefused = false;
      entry.askedAt = performance.now();
      if (!found) {
        if (entry.prompt!.source === 'file') entry.prompt = new Prompt(ref, entry.known!.prompt, 'service');
        return;
      }
      take(entry, found, new Prompt(ref, found.prompt, 'service'));
      await files?.write(ref, found);
    } catch (error) {
      entry.failure = error;
      entry.isRefused = !mayPass(error);
      entry.nextAt = performance.now() + pauseMs;
    }
  }
}

function newEntry(): Entry {
  const never = -Infinity;
  return { known: null, prompt: null, askedAt: never, nextAt: never, isRefused: false, failure: null, asking: null };
}

function take(entry: Entry, known: KnownPrompt, prompt: Prompt): Prompt {
  entry.known = known;
  entry.prompt = prompt;
  return prompt;
}

function refOf(name: string, label: string | undefined, version: number | undefined): string {
  if (label !== undefined && version !== undefined)
    throw new RatchetError('prompt: give a label or a version, not both.', { code: 'invalid_argument' });
  const part = label ?? version;
  return part === undefined ? name : `${name}@${part}`;
}

/** Whether the service may answer later; all else is a refusal, which no known prompt hides. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof RatchetError)) return false;
  const { status, code, headers } = error;
  if (status === null) return ['unreachable', 'timeout', 'invalid_answer'].includes(code);
  return status >= 500 || [408, 425, 429, 498, 499].includes(status) || headers?.get('x-should-retry') === 'true';
}
