import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { RowsSource } from './source.js';
import type { Row, RowsFilter, RowsPage } from './types.js';

/** Rows that pass a filter, read page by page as they come into view. */
export class RowList {
  /** null: the first page has not arrived. */
  readonly state = signal<{ rows: Row[]; total: number; hasBaseline: boolean } | null>(null);
  readonly error = signal<Error | null>(null);
  private readonly source: RowsSource;
  private readonly filter: RowsFilter;
  private readonly stopping = new AbortController();
  private next: string | null = null;
  private wanted = 0;
  private isLoading = false;

  constructor(source: RowsSource, filter: RowsFilter) {
    this.source = source;
    this.filter = filter;
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Asks for pages up to the row at a place. */
  want(index: number): void {
    this.wanted = Math.max(this.wanted, index);
    if (this.state.value !== null && this.next !== null) void this.load((each) => each, this.next);
  }

  /** Asks for pages until the row with a number is there, or there are no more. */
  seek(seed: number): void {
    const state = this.state.value;
    if (state && !state.rows.some((row) => row.seed === seed)) this.want(state.rows.length);
  }

  /** Whether all rows that pass are read. */
  get isWhole(): boolean {
    const state = this.state.value;
    return state !== null && this.next === null && !this.isLoading;
  }

  /** Reads the shown rows again; the old ones stay until then. */
  refresh(): void {
    void this.load(() => [], null);
  }

  /** Adds pages to `kept` of the rows so far, until the wanted row is there. */
  private async load(kept: (rows: Row[]) => Row[], from: string | null): Promise<void> {
    if (this.isLoading || this.stopping.signal.aborted) return;
    this.isLoading = true;
    try {
      const rows = [...kept(this.state.value?.rows ?? [])];
      let page: RowsPage;
      let after = from;
      do {
        page = await this.source.page(this.filter, after, this.stopping.signal);
        rows.push(...page.rows);
        after = page.next;
      } while (after !== null && rows.length <= this.wanted);
      this.next = after;
      this.error.value = null;
      this.state.value = { rows, total: page.total, hasBaseline: page.hasBaseline };
    } catch (error) {
      if (!this.stopping.signal.aborted) this.error.value = error as Error;
    } finally {
      this.isLoading = false;
    }
  }
}

/** The rows of a filter while the component is mounted, read again when `version` changes. */
export function useRowList(source: RowsSource, filter: RowsFilter, key: string, version: string): RowList {
  const list = useMemo(() => new RowList(source, filter), [key]);
  useEffect(() => () => list.stop(), [list]);
  useEffect(() => list.refresh(), [list, version]);
  return list;
}
