import { useMemo, useState } from 'preact/hooks';
import { useResource } from '../../data/resource.js';
import { Loading, Problem } from '../../ui/basics.js';
import { Choice } from '../../ui/choice.js';
import { numberOf } from '../../data/search.js';
import { graphFromJson } from '../../../../src/core/graphs/json.js';
import type { GraphJson } from '../../../../src/kinds/graph/contract/graph.js';
import { client } from '../../data/client.js';
import { GraphDrawing } from './drawing.js';
import type { CandidateDetail, GraphJob } from '../../data/graph/types.js';

/** The graph of a candidate in the form that the core reads. */
const graphOf = ({ graph }: CandidateDetail) => graphFromJson(graph as GraphJson);

const views = { marked: 'In one', beside: 'Beside' };

/** The graph of a candidate, and what it changes in its parent's or in the first. */
export function GraphComparison({ job, candidate }: { job: GraphJob; candidate: CandidateDetail }) {
  const bases = basesOf(candidate);
  const [given, setBase] = useState<string | null>(null);
  const [view, setView] = useState<keyof typeof views>('marked');
  const base = given !== null && given in bases ? given : Object.keys(bases)[0]!;
  const { data, error } = useResource(`graph base ${base}`, async (signal) =>
    base === 'alone' ? null : client.value.graphs.handle(job.job_id).candidate(base, { signal }),
  );
  const graph = useMemo(() => graphOf(candidate), [candidate]);
  const before = useMemo(() => (data ? graphOf(data) : null), [data]);
  const model = job.policy.model;
  const name = `Graph of candidate ${numberOf(candidate.candidate_id)}`;
  return (
    <>
      <div class="bar graph-choices">
        {!candidate.is_baseline && (
          <Choice label="Compare the graph with" value={base} options={bases} onChange={setBase} />
        )}
        {before && <Choice label="How to compare" value={view} options={views} onChange={setView} />}
      </div>
      <Problem error={error} />
      {data === undefined && !error && <Loading />}
      {before && view === 'beside' && (
        <figure class="graph-figure">
          <figcaption class="quiet">{bases[base]!.replace('Against ', '')}</figcaption>
          <GraphDrawing label={`Graph of ${bases[base]}`} graph={before} before={null} model={model} />
        </figure>
      )}
      {data !== undefined && (
        <figure class="graph-figure">
          {before && view === 'beside' && (
            <figcaption class="quiet">candidate {numberOf(candidate.candidate_id)}</figcaption>
          )}
          <GraphDrawing label={name} graph={graph} before={before} model={model} />
        </figure>
      )}
    </>
  );
}

/** What a candidate can be compared with, by candidate id; `alone`: nothing. */
function basesOf(candidate: CandidateDetail): Record<string, string> {
  const { candidate_id: id, parent_ids: parents } = candidate;
  const first = `${id.slice(0, id.lastIndexOf('_'))}_0`;
  const bases = Object.fromEntries(parents.map((parent) => [parent, `Against parent ${numberOf(parent)}`]));
  if (id !== first) bases[first] = 'Against the first graph';
  return { ...bases, alone: 'Alone' };
}
