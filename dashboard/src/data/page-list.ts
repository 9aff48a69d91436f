import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

/** A part of a list. `next`: where the next page begins; null: this is the last. */
export interface ListPage<Row> {
  rows: Row[];
  /** null: a page behind the first. */
  total: number | null;
  next: string | null;
}

/** The first page with all rows so far. */
type ListState<Page> = Page & { total: number };

type Read<Page> = (after: string | null, signal: AbortSignal) => Promise<Page>;

/** A list that is read page by page as its rows come into view. */
export class PageList<Row, Page extends ListPage<Row>> {
  /** null: the first page has not arrived. */
  readonly state = signal<ListState<Page> | null>(null);
  readonly error = signal<Error | null>(null);
  private readonly read: Read<Page>;
  private readonly stopping = new AbortController();
  private wanted = 0;
  private isLoading = false;

  constructor(read: Read<Page>) {
    this.read = read;
  }

  stop(): void {
    this.stopping.abort();
  }

  /** Asks for pages up to the row at an index. */
  want(index: number): void {
    this.wanted = Math.max(this.wanted, index);
    const next = this.state.value?.next ?? null;
    if (next !== null) void this.load((each) => each, next);
  }

  /** Asks for pages until a row is there, or there are no more. */
  seek(isWanted: (row: Row) => boolean): void {
    const state = this.state.value;
    if (state && !state.rows.some(isWanted)) this.want(state.rows.length);
  }

  /** Whether all rows that pass are read. */
  get isWhole(): boolean {
    return this.state.value?.next === null && !this.isLoading;
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
      let first = from === null ? null : this.state.value;
      let next = from;
      do {
        const page = await this.read(next, this.stopping.signal);
        first ??= { ...page, total: page.total ?? page.rows.length };
        rows.push(...page.rows);
        next = page.next;
      } while (next !== null && rows.length <= this.wanted);
      this.error.value = null;
      this.state.value = { ...first, rows, next };
    } catch (error) {
      if (!this.stopping.signal.aborted) this.error.value = error as Error;
    } finally {
      this.isLoading = false;
    }
  }
}

/**
 * The list of a key while the component is mounted, read again when `version` changes. null: not
 * known yet; the first one that is known asks for no other read.
 */
export function usePageList<Row, Page extends ListPage<Row>>(
  read: Read<Page>,
  key: string,
  version: string | null,
): PageList<Row, Page> {
  const list = useMemo(() => new PageList<Row, Page>(read), [key]);
  const known = useRef<{ list: PageList<Row, Page>; version: string | null } | null>(null);
  useEffect(() => () => list.stop(), [list]);
  useEffect(() => {
    const isRead = known.current?.list === list && known.current.version === null;
    known.current = { list, version };
    if (!isRead) list.refresh();
  }, [list, version]);
  return list;
}

/** The row at an index, which is asked for if it is not read; undefined: not yet. */
export function useRowAt<Row, Page extends ListPage<Row>>(list: PageList<Row, Page>, index: number): Row | undefined {
  const row = list.state.value?.rows[index];
  useEffect(() => {
    if (!row) list.want(index);
  }, [row, list, index]);
  return row;
}
