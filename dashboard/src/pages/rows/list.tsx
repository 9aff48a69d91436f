import { useCallback, useMemo } from 'preact/hooks';
import { isRight } from '../../../../src/core/rows/groups.js';
import { useRowAt } from '../../data/page-list.js';
import type { RowList } from '../../data/rows/list.js';
import type { Row, RowAnswer } from '../../data/rows/types.js';
import { ReviewMark } from '../../ui/review/mark.js';
import { useMedia } from '../../ui/hooks/use-media.js';
import { heightOf, VirtualList } from '../../ui/virtual-list.js';
import { reward } from '../../util/format.js';
import { openRow } from './review.js';

/** On a phone the text has a line of its own. */
const heights = { wide: { row: 36, head: 34 }, narrow: { row: 56, head: 48 } };
/** Names of tasks are cut behind so many. */
const mostNameChars = 12;

/** Rows of one line each; a click opens one beside the list. `shown`: the open one. */
export function RowTable(props: {
  jobId: string;
  list: RowList;
  total: number;
  hasBaseline: boolean;
  shown: number | null;
}) {
  const { jobId, list, total, hasBaseline, shown } = props;
  const heads = hasBaseline
    ? ['Row', 'Text', 'Expected', 'Baseline', 'Winner', 'Part']
    : ['Row', 'Text', 'Expected', 'Answer', 'Reward'];
  const { row: rowHeight, head: headHeight } = heights[useMedia('(max-width: 760px)') ? 'narrow' : 'wide'];
  const longest = (list.state.value?.rows ?? []).reduce((most, { name }) => Math.max(most, name.length), 3);
  const row = useCallback(
    (index: number) => <RowLine jobId={jobId} list={list} index={index} hasBaseline={hasBaseline} />,
    [jobId, list, hasBaseline],
  );
  return (
    <div
      class={`row-table ${hasBaseline ? '' : 'row-table-alone'}`}
      style={{ '--name': `${Math.min(longest, mostNameChars) + 1}ch` }}
    >
      <VirtualList
        count={total}
        rowHeight={rowHeight}
        current={shown === null ? -1 : (list.state.value?.rows ?? []).findIndex((row) => row.seed === shown)}
        label="Rows"
        height={heightOf(total, total * rowHeight + headHeight + 2)}
        head={heads.map((name) => (
          <span key={name} role="columnheader" class={`row-${name.toLowerCase()}`}>
            {name}
          </span>
        ))}
        row={row}
      />
    </div>
  );
}

function RowLine(props: { jobId: string; list: RowList; index: number; hasBaseline: boolean }) {
  const { jobId, list, index, hasBaseline } = props;
  const row = useRowAt(list, index);
  // Each page that arrives renders every row in view again.
  return useMemo(
    () => (row ? <Cells jobId={jobId} row={row} hasBaseline={hasBaseline} /> : <Unread />),
    [jobId, row, hasBaseline],
  );
}

const Unread = () => (
  <span role="cell" class="quiet">
    …
  </span>
);

function Cells({ jobId, row, hasBaseline }: { jobId: string; row: Row; hasBaseline: boolean }) {
  return (
    <>
      <span role="cell" class="row-row quiet" title={row.name}>
        {row.name}
      </span>
      <TextCell jobId={jobId} row={row} />
      <span role="cell" class="row-expected" title={row.expected ?? ''} dir="auto">
        {row.expected}
      </span>
      {hasBaseline && <AnswerCell name="baseline" side={row.before} />}
      <AnswerCell name="winner" side={row.after} />
      <span role="cell" class="row-part quiet">
        {hasBaseline ? (row.seen ? 'seen' : 'held-out') : reward(row.after?.reward)}
      </span>
    </>
  );
}

function TextCell({ jobId, row }: { jobId: string; row: Row }) {
  const shown = row.after ?? row.before!;
  const text = row.input ?? shown.feedback ?? '';
  return (
    <span role="cell" class="row-text">
      <button type="button" class="row-open" data-row={row.seed} title={text} onClick={() => openRow(row.seed)}>
        <span class="visually-hidden">Row {row.name}: </span>
        <ReviewMark subject={{ jobId, subjectId: shown.traceId }} reviews={row.reviews} />
        <span dir="auto">{text || `Row ${row.name}`}</span>
      </button>
    </span>
  );
}

function AnswerCell({ name, side }: { name: string; side: RowAnswer | null }) {
  if (!side)
    return (
      <span role="cell" class={`row-${name} quiet`}>
        not run
      </span>
    );
  const { mark, tone, said } = markOf(side);
  const text = side.reward === null ? (side.error ?? 'failed') : (side.answer ?? '–');
  return (
    <span role="cell" class={`row-${name}`} title={`${text}${side.feedback ? `\n\n${side.feedback}` : ''}`}>
      <span class={tone} aria-hidden="true">
        {mark}
      </span>
      <span class="visually-hidden">{said}</span> <bdi>{text}</bdi>
    </span>
  );
}

function markOf({ reward }: RowAnswer): { mark: string; tone: string; said: string } {
  if (reward === null) return { mark: '!', tone: 'bad', said: 'Failed:' };
  return isRight(reward) ? { mark: '✓', tone: 'good', said: 'Right:' } : { mark: '✗', tone: 'bad', said: 'Wrong:' };
}
