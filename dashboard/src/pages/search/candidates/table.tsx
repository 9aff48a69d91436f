import { useMemo } from 'preact/hooks';
import { count, reward } from '../../../util/format.js';
import { here, route, setQuery } from '../../../util/router.js';
import { Badge, Tag } from '../../../ui/basics.js';
import { heightOf, VirtualList } from '../../../ui/virtual-list.js';
import { estimateName, heldoutOf } from '../../../data/first-reward.js';
import { numberOf, type Candidate, type Results, type SearchJob } from '../../../data/search.js';
import { sorted, sortOf, textOf, type SortKey } from './sort.js';

interface ColumnHead {
  key: SortKey | null;
  name: string;
  /** Left out on a phone. */
  isMore?: boolean;
  isNumber?: boolean;
  title?: string;
}

const columnsOf = (job: SearchJob): ColumnHead[] => [
  { key: 'number', name: 'Candidate' },
  { key: 'generation', name: 'Gen', isMore: true, isNumber: true, title: 'Generation: the round of the search' },
  { key: 'status', name: 'Status' },
  { key: null, name: 'Held-out', isNumber: true, title: 'Reward on held-out rows, of the winner and the baseline' },
  { key: 'reward', name: 'Estimate', isNumber: true, title: estimateName(job) },
  { key: 'estimate', name: 'At acceptance', isMore: true, isNumber: true, title: 'The estimate when it was accepted' },
  {
    key: 'avg_reward',
    name: 'All answers',
    isMore: true,
    isNumber: true,
    title: 'Mean over all its answers, tests included',
  },
  { key: 'rollouts', name: 'Answers', isMore: true, isNumber: true },
  { key: null, name: 'Decision', isMore: true },
  { key: null, name: 'Parents', isMore: true },
];

const rowHeight = 37;
const scrollBar = 18;

/** The candidates, sorted by the column of the address. */
export function CandidatesTable(props: {
  candidates: Candidate[];
  bestId: string | null;
  job: SearchJob;
  results: Results | undefined;
}) {
  const { candidates, bestId, job, results } = props;
  const sort = sortOf(route.value.query.get('sort'));
  const { key, isDescending } = sort;
  const rows = useMemo(() => sorted(candidates, { key, isDescending }), [candidates, key, isDescending]);
  const isWide = candidates.some(({ reward: value }) => value !== null && (value < 0 || value > 1));
  return (
    <div class="panel candidates">
      <VirtualList
        count={rows.length}
        rowHeight={rowHeight}
        label="Table of candidates"
        height={heightOf(rows.length, (rows.length + 1) * rowHeight + scrollBar)}
        head={columnsOf(job).map(({ key, name, isMore, isNumber, title }) => (
          <div
            key={name}
            role="columnheader"
            title={title}
            class={`${isNumber ? 'number' : ''} ${isMore ? 'on-roomy' : ''}`}
            aria-sort={key === sort.key ? (sort.isDescending ? 'descending' : 'ascending') : undefined}
          >
            {key === null ? name : <SortButton sortKey={key} name={name} />}
          </div>
        ))}
        row={(index) => (
          <CandidateCells
            candidate={rows[index]!}
            isBest={rows[index]!.candidate_id === bestId}
            heldout={heldoutOf(results, rows[index]!.candidate_id)?.reward ?? null}
            hasBar={!isWide}
          />
        )}
      />
    </div>
  );
}

function SortButton({ sortKey, name }: { sortKey: SortKey; name: string }) {
  const sort = sortOf(route.value.query.get('sort'));
  const isCurrent = sort.key === sortKey;
  // The first click shows the largest first.
  const next = { key: sortKey, isDescending: isCurrent ? !sort.isDescending : true };
  return (
    <button type="button" class="sort-button" onClick={() => setQuery({ sort: textOf(next) })}>
      {name}
      <span aria-hidden="true">{isCurrent ? (sort.isDescending ? ' ↓' : ' ↑') : ''}</span>
    </button>
  );
}

function CandidateCells(props: { candidate: Candidate; isBest: boolean; heldout: number | null; hasBar: boolean }) {
  const { candidate, isBest, heldout, hasBar } = props;
  const { decision, candidate_id: id } = candidate;
  return (
    <>
      <div role="cell" class="candidate-name">
        <a class="row-link" href={here({ candidate: id })} aria-label={`Candidate ${candidate.lever_version}`}>
          #{candidate.lever_version}
        </a>
        {isBest && <Badge status="best" />}
        {candidate.is_baseline && <Tag>baseline</Tag>}
      </div>
      <div role="cell" class="number on-roomy">
        {candidate.generation}
      </div>
      <div role="cell">
        <Badge status={candidate.status === 'proposed' ? decision.outcome : candidate.status} />
      </div>
      <div role="cell" class="number">
        {heldout !== null && <strong>{reward(heldout)}</strong>}
      </div>
      <div role="cell" class="number">
        {hasBar && candidate.reward !== null && <Bar share={candidate.reward} />}
        {reward(candidate.reward)}
      </div>
      <div role="cell" class="number on-roomy">
        {reward(decision.estimated_reward)}
      </div>
      <div role="cell" class="number quiet on-roomy">
        {reward(candidate.avg_reward)}
      </div>
      <div role="cell" class="number quiet on-roomy">
        {count(candidate.rollout_count)}
      </div>
      <div role="cell" class="decision on-roomy" title={decision.message}>
        {decision.message}
      </div>
      <div role="cell" class="candidate-parents on-roomy">
        {candidate.parent_ids.map((parent) => (
          <a key={parent} href={here({ candidate: parent })}>
            {numberOf(parent)}
          </a>
        ))}
      </div>
    </>
  );
}

function Bar({ share }: { share: number }) {
  return (
    <span class="bar-track" aria-hidden="true">
      <span class="bar-fill" style={{ width: `${share * 100}%` }} />
    </span>
  );
}
