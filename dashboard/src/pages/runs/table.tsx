import type { ComponentChildren } from 'preact';
import type { Run } from '../../data/run-types.js';
import { signed } from '../../../../src/core/math/words.js';
import { firstReward, firstRewardName } from '../../../../src/core/comparisons/first-reward.js';
import { count, dollars, endOfId, makerOf, reward, shortId } from '../../util/format.js';
import { here, pageOf, route, setQuery } from '../../util/router.js';
import { Badge, StuckBadge, Tag, Time } from '../../ui/basics.js';
import { nextSort, viewOf, type SortKey } from './address.js';
import { GainCell } from './gain.js';
import { scaleOf, type Scale } from './scale.js';
import { isMarked, mark, markAll } from './marked.js';
import { DatasetLink } from '../../ui/dataset-link.js';
import { LiveLine } from '../../ui/health-strip.js';

/** A line a run, with the gains of comparable ones on one axis. */
export function RunsTable({ runs, label = 'Runs' }: { runs: readonly Run[]; label?: string }) {
  const scale = scaleOf(runs, viewOf(route.value.query).scale);
  const named = Map.groupBy(runs, ({ name }) => name);
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={label}>
      <table class="table leaderboard">
        <thead>
          <tr>
            <th class="mark">
              <input
                type="checkbox"
                aria-label={`Select all of ${label}`}
                checked={runs.every(({ job_id }) => isMarked(job_id))}
                onChange={(event) => markAll(runs, event.currentTarget.checked)}
              />
            </th>
            <SortHead sortKey="name">Run</SortHead>
            <th class="fits">Verdict</th>
            <SortHead
              sortKey="reward"
              kind="number"
              title="On held-out rows, else an estimate (*) on rows that the search saw; of an evaluation its mean"
            >
              Reward
            </SortHead>
            <SortHead
              sortKey="gain"
              kind="gain-head"
              title="Winner minus baseline, on held-out rows, with its 95 % interval"
              aside={scale && <AxisEnds {...scale} />}
            >
              Gain
            </SortHead>
            <th class="on-wide">Data set</th>
            <th class="on-wide">Model</th>
            <SortHead sortKey="cost" kind="number on-roomy">
              Cost
            </SortHead>
            <SortHead sortKey="rollouts" kind="number on-wide" title="Finished answers, of the limit">
              Answers
            </SortHead>
            <th class="number on-widest" title="Length of the best prompt in estimated tokens">
              Prompt
            </th>
            <SortHead sortKey="created" kind="fits on-medium">
              When
            </SortHead>
            <th class="on-widest">By</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow
              key={run.job_id}
              run={run}
              scale={scale}
              isAlone={run.name === null || named.get(run.name)!.length === 1}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The ends of the axis that the gains of a list share. */
function AxisEnds({ reach }: Scale) {
  return (
    <span class="gain-ends quiet" title="The line of a gain begins and ends here: winner minus baseline">
      <span>{signed(-reach)}</span>
      <span>0</span>
      <span>{signed(reach)}</span>
    </span>
  );
}

function SortHead(props: {
  sortKey: SortKey;
  kind?: string;
  title?: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { sortKey, kind = '', title, aside, children } = props;
  const view = viewOf(route.value.query);
  const { key, isDescending } = view.sort;
  const isCurrent = key === sortKey;
  return (
    <th class={kind} title={title} aria-sort={isCurrent ? (isDescending ? 'descending' : 'ascending') : undefined}>
      <button type="button" class="sort-button" onClick={() => setQuery({ sort: nextSort(view, sortKey) })}>
        {children}
        <span aria-hidden="true">{isCurrent ? (isDescending ? ' ↓' : ' ↑') : ''}</span>
      </button>
      {aside}
    </th>
  );
}

/** `isAlone`: no other run of the list is called so. */
function RunRow({ run, scale, isAlone }: { run: Run; scale: Scale | null; isAlone: boolean }) {
  const name = run.name ?? shortId(run.job_id);
  const [model = ''] = run.models;
  return (
    <tr>
      <td class="mark">
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={isMarked(run.job_id)}
          onChange={(event) => mark(run, event.currentTarget.checked)}
        />
      </td>
      <td class="run-name">
        <span class="run-line">
          <a class="row-link" dir="auto" href={pageOf(run.job_id)} title={name}>
            {run.name ?? <ShortId id={run.job_id} />}
          </a>
          {!isAlone && <span class="quiet mono run-id">{endOfId(run.job_id)}</span>}
          <span class="quiet">{run.kind}</span>
          {run.parent_id && <a href={pageOf(run.parent_id)}>part of {shortId(run.parent_id)}</a>}
          {run.archived && <Tag>archived</Tag>}
          {run.tags.map((tag) => (
            <button key={tag} type="button" class="tag-button" onClick={() => setQuery({ tag })}>
              <Tag>{tag}</Tag>
            </button>
          ))}
        </span>
        <LiveLine id={run.job_id} />
      </td>
      <td class="fits">
        <Verdict run={run} /> <StuckBadge stuck={run.stuck} />
      </td>
      <RewardCell run={run} />
      <GainCell run={run} scale={scale} />
      <td class="on-wide cut">{run.dataset && <DatasetLink dataset={run.dataset} />}</td>
      <td class="on-wide cut quiet" title={run.models.join(', ')}>
        {model}
      </td>
      <td class="number on-roomy">{dollars(run.total_cost_usd)}</td>
      <td class="number on-wide">
        {count(run.rollouts)}
        {run.progress.total !== null && <span class="quiet"> / {count(run.progress.total)}</span>}
      </td>
      <td class="number on-widest">{count(run.prompt_tokens)}</td>
      <td class="fits on-medium">
        <Time at={run.created_at} />
      </td>
      <td class="on-widest cut quiet">
        {run.created_by && (
          <a class="plain-link" href={here({ by: run.created_by.key_id })} title={run.created_by.key_id}>
            {makerOf(run.created_by)}
          </a>
        )}
      </td>
    </tr>
  );
}

/** Its kind, left out on a phone, and its end. */
function ShortId({ id }: { id: string }) {
  return (
    <>
      <span class="id-kind">{id.slice(0, 4)}</span>
      {endOfId(id)}
    </>
  );
}

/** The verdict of an ended search; else the status. */
function Verdict({ run: { status, verdict, best_is_baseline: isBaseline } }: { run: Run }) {
  if (status === 'completed' && isBaseline) return <Badge status="inconclusive" text="no better prompt" />;
  return <Badge status={status === 'completed' && verdict ? verdict : status} />;
}

/** The reward that the page of the run shows first. */
function RewardCell({ run }: { run: Run }) {
  const first = firstReward(run);
  if (run.kind === 'evaluation' || !first) return <td class="number">{reward(first?.reward)}</td>;
  const { interval, baseline, isHeldOut } = first;
  const range = interval ? `, ${reward(interval.low)} to ${reward(interval.high)}` : '';
  return (
    <td class="number" title={`${firstRewardName(first)}${range}`}>
      {baseline !== null && <span class="quiet run-before">{reward(baseline)} → </span>}
      <strong>{reward(first.reward)}</strong>
      {!isHeldOut && <abbr title={firstRewardName(first)}>*</abbr>}
    </td>
  );
}
