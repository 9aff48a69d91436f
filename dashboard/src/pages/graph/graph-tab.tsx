import { useEffect, useRef } from 'preact/hooks';
import { useResource } from '../../data/resource.js';
import { reward } from '../../util/format.js';
import { here, route, setQuery } from '../../util/router.js';
import { Badge, Empty, Loading, Panel, Problem } from '../../ui/basics.js';
import { isActive } from '../../data/job.js';
import { numberOf } from '../../data/search.js';
import { StepPrompts } from './step-prompts.js';
import { GraphComparison } from './comparison.js';
import { graphCandidates } from '../../data/candidates.js';
import { client } from '../../data/client.js';
import { howMade, lineOf } from './lineage.js';
import type { Candidate, GraphJob } from '../../data/graph/types.js';

const pollMs = 4_000;

/** The best graph and how it came to be, step by step; or the graph of any other candidate. */
export function GraphTab({ job }: { job: GraphJob }) {
  const { data: candidates, error } = useResource(
    `line ${job.job_id}`,
    (signal) => graphCandidates(job.job_id, signal),
    isActive(job.status) ? pollMs : null,
  );
  if (!candidates) return error ? <Problem error={error} /> : <Loading />;
  const best = job.best_candidate?.candidate_id ?? job.estimated_candidate_id ?? candidates[0]?.candidate_id;
  if (best === undefined) return <Empty>The first graph is drawn when the job has started.</Empty>;
  const shown = route.value.query.get('at') ?? best;
  const line = lineOf(candidates, best);
  const show = (id: string) => setQuery({ at: id === best ? null : id });
  return (
    <>
      <Panel title="Graph" aside={<CandidateSelect candidates={candidates} best={best} shown={shown} onShow={show} />}>
        <Problem error={error} />
        {line.length > 1 && <Line line={line} shown={shown} onShow={show} />}
        <Shown key={shown} job={job} id={shown} />
      </Panel>
      <StepPrompts key={`prompts ${shown}`} job={job} id={shown} />
    </>
  );
}

function CandidateSelect(props: {
  candidates: Candidate[];
  best: string;
  shown: string;
  onShow: (id: string) => void;
}) {
  const { candidates, best, shown, onShow } = props;
  return (
    <label class="graph-select">
      <span class="quiet">Candidate </span>
      <select value={shown} onChange={(event) => onShow(event.currentTarget.value)}>
        {candidates.map((candidate) => (
          <option key={candidate.candidate_id} value={candidate.candidate_id}>
            {numberOf(candidate.candidate_id)} {candidate.candidate_id === best ? 'best' : outcomeOf(candidate)}
          </option>
        ))}
      </select>
    </label>
  );
}

const outcomeOf = ({ status, decision }: Candidate): string => (status === 'proposed' ? decision.outcome : status);

/** The ancestors of the best candidate, one after another. */
function Line({ line, shown, onShow }: { line: Candidate[]; shown: string; onShow: (id: string) => void }) {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = line[line.findIndex(({ candidate_id: id }) => id === shown) + step];
    if (!next) return;
    onShow(next.candidate_id);
    (event.currentTarget as HTMLElement).querySelectorAll('button')[line.indexOf(next)]!.focus();
  };
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const box = list.current!;
    const pressed = box.querySelector<HTMLElement>('[aria-pressed="true"]');
    if (pressed) box.scrollLeft = pressed.parentElement!.offsetLeft - box.clientWidth / 2;
  }, [shown, line.length]);
  return (
    <ol ref={list} class="graph-line-of" aria-label="From the first graph to the best" onKeyDown={move}>
      {line.map((candidate) => (
        <li key={candidate.candidate_id}>
          <button
            type="button"
            class="graph-ancestor"
            aria-pressed={candidate.candidate_id === shown}
            onClick={() => onShow(candidate.candidate_id)}
          >
            <strong>{numberOf(candidate.candidate_id)}</strong>
            <span class="quiet">generation {candidate.generation}</span>
            <span class="graph-reward">{rewardOf(candidate)}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

/** The reward, else the estimate at its acceptance. */
function rewardOf({ reward: measured, decision }: Candidate): string {
  if (measured !== null || decision.estimated_reward === null) return reward(measured);
  return `≈ ${reward(decision.estimated_reward)}`;
}

function Shown({ job, id }: { job: GraphJob; id: string }) {
  const { data: candidate, error } = useResource(`graph ${id}`, (signal) =>
    client.value.graphs.handle(job.job_id).candidate(id, { signal }),
  );
  if (!candidate) return error ? <Problem error={error} /> : <Loading />;
  return (
    <>
      <p class="job-facts">
        <a href={here({ candidate: id })}>Candidate {numberOf(id)}</a>
        <Badge status={outcomeOf(candidate)} />
        <span>{howMade(candidate)}</span>
      </p>
      <GraphComparison job={job} candidate={candidate} />
    </>
  );
}
