import { largeRows, size, type LargeRows } from '../growth/large-rows.js';
import { measureReads, type Read } from '../growth/reads.js';
import { smallSession } from '../growth/templates.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const repeats = 30;

/** Reads of the rows of a session and of a comparison, each with its worst case beside it. */
export async function run(world: World): Promise<Row[]> {
  const { jobId } = await smallSession(world);
  const large = await largeRows(world.postgres, jobId);
  await world.postgres.query('vacuum analyze');
  const reads = await readsOf(world, large);
  const times = await measureReads(world, reads, repeats);
  return reads.map(({ what, most }, at) => {
    const { p50, p99, bytes } = times[at]!;
    return {
      what: `${size.rows.toLocaleString('en-US')} rows: ${what}, median`,
      value: p50,
      unit: 'ms',
      beside: { what: 'the worst', value: p99 },
      ...(most !== undefined && { aim: { of: 'value', most } }),
      raw: { p50, p99, bytes },
    } satisfies Row;
  });
}

/** `most`: the median that is aimed at, in milliseconds. */
async function readsOf(world: World, { jobId, candidateIds }: LargeRows): Promise<(Read & { most?: number })[]> {
  const rows = `/api/v1/online/sessions/${jobId}/rows`;
  const compared = (columns: number) => `/api/v1/compare/many/rows?ids=${candidateIds.slice(0, columns).join(',')}`;
  const after = async (path: string) =>
    `${path}&cursor=${(await world.call<{ next_cursor: string }>('GET', path)).next_cursor}`;
  const all = compared(size.candidates);
  return [
    { what: 'the first page', path: `${rows}?limit=200`, most: 100 },
    { what: 'the next page', path: await after(`${rows}?limit=200`), most: 100 },
    { what: 'the first page of a group', path: `${rows}?limit=200&group=fixed`, most: 100 },
    { what: 'the next page of a group', path: await after(`${rows}?limit=200&group=fixed`), most: 100 },
    { what: 'the first page of a search', path: `${rows}?limit=200&q=rule+3`, most: 400 },
    { what: 'a search without a result', path: `${rows}?limit=200&q=nowhere`, most: 400 },
    { what: 'the first page by expected value', path: `${rows}?limit=200&expected=needs+rule-3.` },
    { what: 'the summary', path: `${rows}/summary` },
    { what: 'the first page of a comparison of two', path: compared(2), most: 100 },
    { what: `the first page of a comparison of ${size.candidates}`, path: all },
    { what: `the next page of a comparison of ${size.candidates}`, path: await after(all), most: 100 },
    { what: `a search in a comparison of ${size.candidates}`, path: `${all}&q=nowhere` },
    { what: `a comparison of ${size.candidates}`, path: all.replace('/rows', '') },
  ];
}
