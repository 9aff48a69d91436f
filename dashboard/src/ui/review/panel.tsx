import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ownReview, refusalOf, say, undo } from '../../data/reviews.js';
import type { Review, ReviewContent, ReviewSubject, ReviewVerdict } from '../../data/review-types.js';
import { count } from '../../util/format.js';
import { Problem } from '../basics.js';
import { SplitDiff } from '../diff/split.js';
import { LongText } from '../long-text.js';
import { keyWords, useReviewKeys, type ReviewAction } from './keys.js';
import { verdictWords } from './mark.js';
import { TextField } from './text-field.js';

/** An answer in review, with what is around it in its list. */
export interface Reviewing {
  subject: ReviewSubject;
  /** Where it is in the address. */
  place: string;
  title: string;
  reviews: readonly Review[];
  input: string | null;
  /** null: there is none, as of a live answer. */
  expected: string | null;
  answer: string | null;
  feedback: string | null;
  hasExpected: boolean;
}

/** A side panel that shows an answer and takes what the reader says of it, by keys or buttons. */
export function ReviewPanel(props: {
  of: Reviewing;
  /** From 0. */
  index: number;
  total: number;
  /** How many of the list are reviewed. */
  counts: { done: number; all: number };
  move: (by: number) => void;
  goTo: (place: string) => void;
  onSaved: () => void;
  onClose: () => void;
  /** The trace. */
  children: ComponentChildren;
}) {
  const { of, index, total, counts, move, goTo, onSaved, onClose } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  const box = useRef<HTMLElement>(null);
  const [editing, setEditing] = useState<'note' | 'corrected' | null>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const focus = () => heading.current?.focus({ preventScroll: true });
  useLayoutEffect(focus, []);
  useEffect(() => {
    setEditing(null);
    box.current!.scrollTop = 0;
  }, [of.place]);

  const own = ownReview(of.subject, of.reviews);
  const save = (change: Partial<ReviewContent>) =>
    void say(of.subject, own, { ...own, ...change }, of.place).then(onSaved);
  const verdict = (name: ReviewVerdict) => save({ verdict: own.verdict === name ? null : name });
  const actions: Actions = {
    next: () => move(1),
    previous: () => move(-1),
    right: () => verdict('right'),
    wrong: () => verdict('wrong'),
    bad_expected: () => of.hasExpected && verdict('bad_expected'),
    note: () => setEditing('note'),
    corrected: () => setEditing('corrected'),
    undo: () => {
      const place = undo(of.subject.jobId, onSaved);
      if (place !== null) goTo(place);
    },
    help: () => setHelpOpen(!isHelpOpen),
    close: onClose,
  };
  useReviewKeys((action) => actions[action]());
  const write = (field: 'note' | 'corrected', text: string | null) => {
    setEditing(null);
    focus();
    if (text === own[field]) return;
    // Who corrects an answer calls it wrong.
    const verdict = field === 'corrected' && text !== null && own.verdict === null ? 'wrong' : own.verdict;
    save({ [field]: text, verdict });
  };

  return (
    <aside ref={box} class="review" aria-label={`Review of ${of.title}`}>
      <Controls {...{ of, index, total, counts, own, actions, isHelpOpen }} heading={heading} />
      <Problem error={refusalOf(of.subject)} />
      {isHelpOpen && <Keys hasExpected={of.hasExpected} />}
      {editing && (
        <TextField
          key={`${of.place} ${editing}`}
          label={editing === 'note' ? 'Note' : 'Corrected answer'}
          value={own[editing] ?? ''}
          onDone={(text) => write(editing, text)}
          onCancel={() => {
            setEditing(null);
            focus();
          }}
        />
      )}
      <Said own={own} others={of.reviews.filter((review) => !review.own)} />
      <Texts of={of} />
      {props.children}
    </aside>
  );
}

type Actions = Record<ReviewAction, () => void>;

/** Where the answer is in its list, and a button for each key. */
function Controls(props: {
  of: Reviewing;
  index: number;
  total: number;
  counts: { done: number; all: number };
  own: ReviewContent;
  actions: Actions;
  isHelpOpen: boolean;
  heading: RefObject<HTMLHeadingElement | null>;
}) {
  const { of, index, total, counts, own, actions, isHelpOpen, heading } = props;
  return (
    <>
      <header class="review-head">
        <h2 ref={heading} tabIndex={-1}>
          {of.title}
        </h2>
        <span class="quiet" role="status">
          <span class="visually-hidden">{of.title}: </span>
          {count(index + 1)} of {count(total)}, {count(counts.done)} of {count(counts.all)} reviewed
          {own.verdict && `, ${verdictWords[own.verdict]}`}
        </span>
        <span class="review-moves">
          <Button words="Previous" keyName="k" onClick={actions.previous} isDisabled={index === 0} />
          <Button words="Next" keyName="j" onClick={actions.next} isDisabled={index + 1 >= total} />
          <button type="button" class="button button-small" aria-label="Close" onClick={actions.close}>
            ✕
          </button>
        </span>
      </header>
      <div class="review-verdicts" role="group" aria-label="Review">
        <Button words="Right" keyName="r" onClick={actions.right} isOn={own.verdict === 'right'} tone="right" />
        <Button words="Wrong" keyName="w" onClick={actions.wrong} isOn={own.verdict === 'wrong'} tone="wrong" />
        {of.hasExpected && (
          <Button
            words="Bad expected value"
            keyName="b"
            onClick={actions.bad_expected}
            isOn={own.verdict === 'bad_expected'}
            tone="bad_expected"
          />
        )}
        <Button words="Note" keyName="n" onClick={actions.note} />
        <Button words="Correct" keyName="c" onClick={actions.corrected} />
        <Button words="Undo" keyName="u" onClick={actions.undo} />
        <Button words="Keys" keyName="?" onClick={actions.help} isOn={isHelpOpen} className="review-help" />
      </div>
    </>
  );
}

function Button(props: {
  words: string;
  keyName: string;
  onClick: () => void;
  isOn?: boolean;
  isDisabled?: boolean;
  tone?: ReviewVerdict;
  className?: string;
}) {
  const { words, keyName, onClick, isOn, isDisabled = false, tone, className = '' } = props;
  return (
    <button
      type="button"
      class={`button button-small ${tone ? `review-button-${tone}` : className}`}
      aria-pressed={isOn}
      aria-keyshortcuts={keyName}
      disabled={isDisabled}
      onClick={onClick}
    >
      {words}{' '}
      <kbd class="review-key" aria-hidden="true">
        {keyName}
      </kbd>
    </button>
  );
}

function Keys({ hasExpected }: { hasExpected: boolean }) {
  return (
    <dl class="review-keys">
      {keyWords
        .filter(([key]) => hasExpected || key !== 'b')
        .map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Notes and corrections, and what others say. */
function Said({ own, others }: { own: ReviewContent; others: readonly Review[] }) {
  const said = [{ ...own, by: 'You' }, ...others].filter(({ by, ...each }) => isWorthALine(each, by === 'You'));
  if (said.length === 0) return null;
  return (
    <ul class="review-said" aria-label="What people say">
      {said.map(({ by, verdict, note, corrected }) => (
        <li key={by}>
          <strong>
            <bdi>{by}</bdi>
            {verdict && `: ${verdictWords[verdict]}`}
          </strong>
          {note && <span dir="auto"> {note}</span>}
          {corrected && (
            <div>
              <span class="quiet">Corrected answer:</span> <bdi>{corrected}</bdi>
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}

const isWorthALine = ({ note, corrected }: ReviewContent, isOwn: boolean): boolean =>
  !isOwn || note !== null || corrected !== null;

/** What was asked, and expected and given as a difference. */
function Texts({ of: { input, expected, answer, feedback, hasExpected } }: { of: Reviewing }) {
  return (
    <>
      {input !== null && (
        <section class="trace-part" aria-label="Asked">
          <h3>Asked</h3>
          <LongText text={input} />
        </section>
      )}
      <section class="trace-part" aria-label={hasExpected ? 'Expected and answered' : 'Answered'}>
        <h3>{hasExpected ? 'Expected and answered' : 'Answered'}</h3>
        {expected !== null && answer !== null && expected !== answer ? (
          <SplitDiff names={['Expected', 'Answered']} before={expected} after={answer} />
        ) : (
          <pre class="prompt-text" dir="auto" tabIndex={0}>
            {answer ?? 'No answer, or its texts have expired.'}
          </pre>
        )}
        {expected !== null && expected === answer && <p class="quiet">As expected.</p>}
        {expected !== null && answer === null && (
          <p>
            <span class="quiet">Expected:</span> <bdi>{expected}</bdi>
          </p>
        )}
      </section>
      {feedback && (
        <section class="trace-part" aria-label="Feedback of the scorer">
          <h3>Feedback of the scorer</h3>
          <LongText text={feedback} />
        </section>
      )}
    </>
  );
}
