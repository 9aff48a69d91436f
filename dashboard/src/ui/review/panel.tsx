import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ownReview, refusalOf, say, undo } from '../../data/reviews/reviews.js';
import type { Review, ReviewContent, ReviewSubject, ReviewVerdict } from '../../data/reviews/types.js';
import { count } from '../../util/format.js';
import { Problem } from '../basics.js';
import { SideBySide } from '../changes/side-by-side.js';
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

interface Props {
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
}

/** A side panel that shows an answer and takes what the reader says of it, by keys or buttons. */
export function ReviewPanel(props: Props) {
  const { of, move, goTo, onSaved, onClose } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  const box = useRef<HTMLElement>(null);
  const [edited, setEdited] = useState<{ place: string; field: 'note' | 'corrected' } | null>(null);
  const editing = edited?.place === of.place ? edited.field : null;
  const edit = (field: 'note' | 'corrected') => setEdited({ place: of.place, field });
  const [isHelpOpen, setHelpOpen] = useState(false);
  const focus = () => heading.current?.focus({ preventScroll: true });
  useLayoutEffect(focus, []);
  useEffect(() => {
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
    note: () => edit('note'),
    corrected: () => edit('corrected'),
    undo: () => {
      const place = undo(of.subject.jobId, onSaved);
      if (place !== null) goTo(place);
    },
    help: () => setHelpOpen(!isHelpOpen),
    close: onClose,
  };
  useReviewKeys((action) => actions[action]());
  const write = (field: 'note' | 'corrected', text: string | null) => {
    setEdited(null);
    focus();
    if (text === own[field]) return;
    // Who corrects an answer calls it wrong.
    const verdict = field === 'corrected' && text !== null && own.verdict === null ? 'wrong' : own.verdict;
    save({ [field]: text, verdict });
  };

  return (
    <aside ref={box} class="review" aria-label={`Review of ${of.title}`}>
      <header class="review-head">
        <h2 ref={heading} tabIndex={-1}>
          {of.title}
        </h2>
        <Place {...props} verdict={own.verdict} actions={actions} />
      </header>
      <Verdicts verdict={own.verdict} hasExpected={of.hasExpected} isHelpOpen={isHelpOpen} actions={actions} />
      <Problem error={refusalOf(of.subject)} />
      {isHelpOpen && <Keys hasExpected={of.hasExpected} />}
      {editing && (
        <TextField
          key={`${of.place} ${editing}`}
          label={editing === 'note' ? 'Note' : 'Corrected answer'}
          value={own[editing] ?? ''}
          onDone={(text) => write(editing, text)}
          onCancel={() => {
            setEdited(null);
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

/** Where the answer stands in the list, and how far the review has come. */
function Place(props: {
  of: Reviewing;
  index: number;
  total: number;
  counts: { done: number; all: number };
  verdict: ReviewVerdict | null;
  actions: Actions;
}) {
  const { of, index, total, counts, verdict, actions } = props;
  return (
    <>
      <span class="quiet" role="status">
        <span class="visually-hidden">{of.title}: </span>
        {count(index + 1)} of {count(total)}, {count(counts.done)} of {count(counts.all)} reviewed
        {verdict && `, ${verdictWords[verdict]}`}
      </span>
      <span class="review-moves">
        <Button words="Previous" keyName="k" onClick={actions.previous} isDisabled={index === 0} />
        <Button words="Next" keyName="j" onClick={actions.next} isDisabled={index + 1 >= total} />
        <button type="button" class="button button-small" aria-label="Close" onClick={actions.close}>
          ✕
        </button>
      </span>
    </>
  );
}

function Verdicts(props: {
  verdict: ReviewVerdict | null;
  hasExpected: boolean;
  isHelpOpen: boolean;
  actions: Actions;
}) {
  const { verdict, hasExpected, isHelpOpen, actions } = props;
  const button = (name: ReviewVerdict, words: string, keyName: string) => (
    <Button words={words} keyName={keyName} onClick={actions[name]} isOn={verdict === name} tone={name} />
  );
  return (
    <div class="review-verdicts" role="group" aria-label="Review">
      {button('right', 'Right', 'r')}
      {button('wrong', 'Wrong', 'w')}
      {hasExpected && button('bad_expected', 'Bad expected value', 'b')}
      <Button words="Note" keyName="n" onClick={actions.note} />
      <Button words="Write the right answer" keyName="c" onClick={actions.corrected} />
      <Button words="Undo" keyName="u" onClick={actions.undo} />
      <Button words="Keys" keyName="?" onClick={actions.help} isOn={isHelpOpen} className="review-help" />
    </div>
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

/** What was asked, and what was expected and answered. */
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
          <SideBySide names={['Expected', 'Answered']} texts={[expected, answer]} />
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
