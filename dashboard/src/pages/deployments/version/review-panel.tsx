import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../../../../../src/client/index.js';
import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { ownReview } from '../../../data/reviews/reviews.js';
import { ActionButton, Loading, Panel, Problem } from '../../../ui/basics.js';
import { Copy } from '../../../ui/copy.js';
import { DatasetLink } from '../../../ui/dataset-link.js';
import { ReviewMark } from '../../../ui/review/mark.js';
import { ReviewPanel } from '../../../ui/review/panel.js';
import { answerOf, messagesOf } from '../../../ui/trace/messages.js';
import { MessageView } from '../../../ui/trace/message.js';
import { VirtualList } from '../../../ui/virtual-list.js';
import { count, reward } from '../../../util/format.js';
import { route, setQuery } from '../../../util/router.js';

type Item = Answer<'getReviewQueue'>['data'][number];

const mostShown = 100;
const rowHeight = 36;

const openAnswer = (answer: string | null): void => setQuery({ answer });

/** Kept answers of a version with one beside the list; those to review come first. */
export function ReviewQueuePanel({ id, isKept }: { id: string; isKept: boolean }) {
  const { data, error, reload } = useResource(`reviews ${id}`, (signal) =>
    client.value.reviews.queue({ job_id: id, limit: mostShown, include_reviewed: 'true' }, { signal }),
  );
  // What is reviewed keeps its place until the page is opened again.
  const [items, setItems] = useState<Item[] | null>(null);
  useEffect(() => setItems((known) => known ?? data?.data ?? null), [data]);
  const shown = route.value.query.get('answer');
  if (!isKept && (!data || data.done + data.left === 0)) return null;
  const index = items?.findIndex(({ subject_id: answer }) => answer === shown) ?? -1;
  const item = items?.[index];
  const to = (at: number) => items?.[at] && openAnswer(items[at].subject_id);
  const close = () => {
    openAnswer(null);
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`.row-open[data-row="${shown}"]`)?.focus());
  };
  return (
    <Panel title="Answers to review">
      <Problem error={error} />
      {!data && !error && <Loading />}
      {data && items && (
        <div class={item ? 'answers answers-reviewed' : 'answers'}>
          <div>
            <QueueBar id={id} items={items} done={data.done} all={data.done + data.left} />
            {items.length > 0 && <AnswerTable items={items} index={index} />}
          </div>
          {item && (
            <ReviewPanel
              of={{
                subject: { jobId: item.job_id, subjectId: item.subject_id },
                place: item.subject_id,
                title: `Answer ${index + 1}`,
                reviews: item.reviews,
                input: item.input,
                expected: null,
                answer: item.answer,
                feedback: null,
                hasExpected: false,
              }}
              index={index}
              total={items.length}
              counts={{ done: data.done, all: data.done + data.left }}
              move={(by) => to(index + by)}
              goTo={openAnswer}
              onSaved={() => void reload()}
              onClose={close}
            >
              <Request id={id} answerId={item.subject_id} />
            </ReviewPanel>
          )}
        </div>
      )}
    </Panel>
  );
}

type Made = Answer<'createDatasetOfRequests'>;

function QueueBar({ id, items, done, all }: { id: string; items: Item[]; done: number; all: number }) {
  const [made, setMade] = useState<Made | null>(null);
  const start = () => {
    const next = items.find((item) => ownReview(subjectOf(item), item.reviews).verdict === null) ?? items[0]!;
    openAnswer(next.subject_id);
  };
  const make = async () =>
    setMade(await client.value.deployments.handle(id).datasetOfRequests({ expected: 'reviewed' }));
  return (
    <div class="row-bar" role="group" aria-label="Kept answers">
      <button type="button" class="button button-plain" disabled={items.length === 0} onClick={start}>
        Review these
      </button>
      <span class="quiet" role="status">
        {all === 0
          ? 'No answer is kept yet.'
          : `${count(done)} of ${count(all)} reviewed. Those of which judge and reward disagree come first.`}
      </span>
      {done > 0 && <ActionButton run={make}>Make a data set of the reviewed</ActionButton>}
      {made && (
        <span class="row-made" role="status">
          Data set <DatasetLink dataset={made} /> of {count(made.num_rows)} rows{' '}
          <Copy text={made.dataset_id} label="Copy its id" />
        </span>
      )}
    </div>
  );
}

const subjectOf = ({ job_id: jobId, subject_id: subjectId }: Item) => ({ jobId, subjectId });

const heads = ['Asked', 'Answered', 'Judge', 'Reward'];

function AnswerTable({ items, index }: { items: Item[]; index: number }) {
  return (
    <div class="row-table answer-table">
      <VirtualList
        count={items.length}
        rowHeight={rowHeight}
        label="Answers to review"
        height={`min(50vh, ${(items.length + 1) * rowHeight + 2}px)`}
        current={index}
        head={heads.map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
        row={(at) => <AnswerLine item={items[at]!} />}
      />
    </div>
  );
}

function AnswerLine({ item }: { item: Item }) {
  const { subject_id: answer, input, reviews } = item;
  return (
    <>
      <span role="cell" class="row-text">
        <button type="button" class="row-open" data-row={answer} onClick={() => openAnswer(answer)}>
          <ReviewMark subject={subjectOf(item)} reviews={reviews} />
          <span dir="auto">{input ?? 'No text'}</span>
        </button>
      </span>
      <span role="cell" dir="auto">
        {item.answer ?? '–'}
      </span>
      <span role="cell">{reward(item.judge)}</span>
      <span role="cell">{reward(item.reward)}</span>
    </>
  );
}

/** The messages of a request and of its answer. */
function Request({ id, answerId }: { id: string; answerId: string }) {
  const { data, error } = useResource(`request ${answerId}`, (signal) =>
    client.value.request('getDeploymentRequest', { path: { deployment_id: id, answer_id: answerId }, signal }),
  );
  return (
    <section class="trace-part" aria-label="Request">
      <h3>Request</h3>
      <Problem error={error} />
      {!data && !error && <Loading />}
      {data && (
        <ol class="turns" aria-label="Messages">
          {(data.request ? messagesOf(data.request) : []).map((message, n) => (
            <MessageView key={n} message={message} />
          ))}
          {answerOf(data.answer).messages.map((message, n) => (
            <MessageView key={`answer ${n}`} message={message} isAnswer />
          ))}
        </ol>
      )}
    </section>
  );
}
