/** Places of candidates in the lineage: columns are generations, edges go from left to right. */
import type { Candidate } from '../../../../data/search.js';

export type Descendant = Pick<Candidate, 'candidate_id' | 'parent_ids' | 'generation' | 'lever_version'>;

export interface Placed<C extends Descendant = Descendant> {
  candidate: C;
  /** The index of its column. */
  column: number;
  /** Its place in the column, in rows from the top; halves center short columns. */
  row: number;
}

export interface Lineage<C extends Descendant = Descendant> {
  placed: Map<string, Placed<C>>;
  /** The candidates of each column, from the top. */
  columns: { generation: number; ids: string[] }[];
  /** Pairs of parent and child. */
  edges: [string, string][];
  /** The height of the longest column. */
  rows: number;
}

/** Longer columns go on in the next one. */
const maxRows = 32;

/** Candidates by generation, near their parents. */
export function lineageOf<C extends Descendant>(candidates: readonly C[]): Lineage<C> {
  const lineage: Lineage<C> = { placed: new Map(), columns: [], edges: [], rows: 0 };
  const ordered = candidates.toSorted((a, b) => a.generation - b.generation || a.lever_version - b.lever_version);
  const byId = new Map(ordered.map((candidate) => [candidate.candidate_id, candidate]));
  lineage.edges = ordered.flatMap(({ candidate_id: id, parent_ids: parents }) =>
    parents.filter((parent) => byId.has(parent)).map((parent): [string, string] => [parent, id]),
  );
  for (const layer of layersOf(ordered, byId)) placeLayer(lineage, layer);
  lineage.rows = Math.max(0, ...lineage.columns.map(({ ids }) => ids.length));
  for (const { ids } of lineage.columns)
    for (const id of ids) lineage.placed.get(id)!.row += (lineage.rows - ids.length) / 2;
  return lineage;
}

/** Candidates of a generation whose parents are all in earlier layers. */
function layersOf<C extends Descendant>(ordered: readonly C[], byId: ReadonlyMap<string, C>): C[][] {
  const depths = new Map<string, number>();
  const layers = new Map<string, C[]>();
  for (const candidate of ordered) {
    const siblings = candidate.parent_ids.filter((id) => byId.get(id)?.generation === candidate.generation);
    const depth = Math.max(0, ...siblings.map((id) => (depths.get(id) ?? 0) + 1));
    depths.set(candidate.candidate_id, depth);
    const key = `${candidate.generation} ${depth}`;
    layers.set(key, [...(layers.get(key) ?? []), candidate]);
  }
  const order = ([candidate]: C[]) => [candidate!.generation, depths.get(candidate!.candidate_id)!] as const;
  return [...layers.values()].sort((a, b) => order(a)[0] - order(b)[0] || order(a)[1] - order(b)[1]);
}

function placeLayer<C extends Descendant>(lineage: Lineage<C>, layer: readonly C[]): void {
  const height = ({ parent_ids: parents }: C) => {
    const placed = parents.flatMap((id) => lineage.placed.get(id) ?? []);
    if (placed.length === 0) return 0;
    const shareOf = ({ row, column }: Placed<C>) => (row + 0.5) / lineage.columns[column]!.ids.length;
    return placed.reduce((sum, parent) => sum + shareOf(parent), 0) / placed.length;
  };
  const sorted = layer
    .map((candidate) => ({ candidate, height: height(candidate) }))
    .sort((a, b) => a.height - b.height || a.candidate.lever_version - b.candidate.lever_version);
  for (let start = 0; start < sorted.length; start += maxRows) {
    const part = sorted.slice(start, start + maxRows).map(({ candidate }) => candidate);
    const column = lineage.columns.length;
    lineage.columns.push({ generation: part[0]!.generation, ids: part.map(({ candidate_id: id }) => id) });
    for (const [row, candidate] of part.entries())
      lineage.placed.set(candidate.candidate_id, { candidate, column, row });
  }
}

/** A candidate with all its ancestors. */
export function ancestorsOf(candidates: readonly Descendant[], id: string | null): ReadonlySet<string> {
  const byId = new Map(candidates.map((candidate) => [candidate.candidate_id, candidate]));
  const line = new Set<string>();
  const open = id === null ? [] : [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (line.has(next) || !byId.has(next)) continue;
    line.add(next);
    open.push(...byId.get(next)!.parent_ids);
  }
  return line;
}

/** Where a key leads: the nearest parent or child, a neighbor in the column, first or last. */
export function neighborOf(lineage: Lineage, id: string, key: string): string | undefined {
  const from = lineage.placed.get(id);
  if (from === undefined) return undefined;
  const { ids } = lineage.columns[from.column]!;
  const nearest = (candidates: string[]) =>
    candidates.toSorted(
      (a, b) => Math.abs(lineage.placed.get(a)!.row - from.row) - Math.abs(lineage.placed.get(b)!.row - from.row),
    )[0];
  switch (key) {
    case 'ArrowLeft':
      return nearest(lineage.edges.filter(([, child]) => child === id).map(([parent]) => parent));
    case 'ArrowRight':
      return nearest(lineage.edges.filter(([parent]) => parent === id).map(([, child]) => child));
    case 'ArrowUp':
      return ids[ids.indexOf(id) - 1];
    case 'ArrowDown':
      return ids[ids.indexOf(id) + 1];
    case 'Home':
      return lineage.columns[0]!.ids[0];
    case 'End':
      return lineage.columns.at(-1)!.ids.at(-1);
    default:
      return undefined;
  }
}
