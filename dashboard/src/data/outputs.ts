import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Answer } from '../../../src/client/index.js';
import { client } from './client.js';

/** A result with its texts. */
export type ResultTexts = Answer<'getEvaluationResults'>['results'][number];

const pageSize = 100;

/** Texts of the results of an evaluation, read in pages as rows come into view. */
export class Outputs {
  /** Grows when texts have arrived, or a page of them has failed. */
  readonly version = signal(0);
  readonly error = signal<Error | null>(null);
  private readonly texts = new Map<string, ResultTexts>();
  private readonly loading = new Set<number>();
  private readonly failed = new Set<number>();
  private readonly stopping = new AbortController();
  private readonly id: string;

  constructor(id: string) {
    this.id = id;
  }

  stop(): void {
    this.stopping.abort();
  }

  of(traceId: string): ResultTexts | undefined {
    return this.texts.get(traceId);
  }

  /** Asks for the texts of a result unless they are there; `index`: of all results. */
  want(traceId: string, index: number): void {
    const page = pageOf(index);
    if (!this.texts.has(traceId) && !this.failed.has(page)) this.ask(page);
  }

  /** Whether the texts of the result at an index could not be read. */
  hasFailed(index: number): boolean {
    return this.failed.has(pageOf(index));
  }

  /** Asks again for the pages that have failed. */
  retry(): void {
    const pages = [...this.failed];
    this.failed.clear();
    this.error.value = null;
    this.version.value += 1;
    for (const page of pages) this.ask(page);
  }

  private ask(page: number): void {
    if (this.loading.has(page)) return;
    this.loading.add(page);
    void this.load(page).finally(() => this.loading.delete(page));
  }

  private async load(page: number): Promise<void> {
    const { signal: stopped } = this.stopping;
    try {
      for (const text of await readPage(this.id, page * pageSize, stopped)) this.texts.set(text.trace_id, text);
    } catch (error) {
      if (stopped.aborted) return;
      this.failed.add(page);
      this.error.value = error as Error;
    }
    this.version.value += 1;
  }
}

const pageOf = (index: number): number => Math.floor(index / pageSize);

async function readPage(id: string, offset: number, stopped: AbortSignal): Promise<ResultTexts[]> {
  const query = { include: 'outputs', limit: pageSize, offset } as const;
  const args = { path: { job_id: id }, query, signal: stopped };
  return (await client.value.request('getEvaluationResults', args)).results;
}

/** The texts of evaluations while the component is mounted. */
export function useOutputs(ids: string[]): Outputs[] {
  const key = ids.join();
  const outputs = useMemo(() => ids.map((id) => new Outputs(id)), [key]);
  useEffect(() => () => outputs.forEach((each) => each.stop()), [outputs]);
  return outputs;
}
