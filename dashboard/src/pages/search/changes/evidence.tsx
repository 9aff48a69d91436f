import { rowsText } from '../../../../../src/core/prompts/changes/report.js';
import type { Author } from '../../../data/changes.js';
import { numberOf } from '../../../data/search.js';
import { Fold } from '../../../ui/fold.js';
import { count, reward } from '../../../util/format.js';
import { here } from '../../../util/router.js';

/** Who wrote a sentence, from which feedback, and the rows that it won and lost. */
export function Evidence({ author, isRemoval = false }: { author: Author; isRemoval?: boolean }) {
  const { candidate_id: id, is_baseline: isBaseline, is_given: isGiven } = author;
  const rows = rowsText(author.rows);
  return (
    <div class="evidence">
      <p class="quiet">
        {isRemoval && 'removed by '}
        {isBaseline ? 'baseline' : <a href={here({ candidate: id })}>{numberOf(id)}</a>}
        {isGiven && ', by a person'}
        <FeedbackRows author={author} />
        {rows !== null && (
          <>
            {'; '}
            <span title="Rows won and lost against the parent, by all edits of this candidate together">{rows}</span>
          </>
        )}
      </p>
      <Differing author={author} />
      <Feedback author={author} />
    </div>
  );
}

function FeedbackRows({ author: { feedback, feedback_total: total } }: { author: Author }) {
  if (feedback.length === 0) return null;
  const shown = feedback.slice(0, 3);
  return (
    <>
      , from{' '}
      {shown.map(({ rollout_id: rollout, seed }, n) => (
        <span key={rollout}>
          {n > 0 && ', '}
          <a href={here({ trace: rollout })}>{seed === null ? 'a call' : `row ${seed}`}</a>
        </span>
      ))}
      {total > shown.length && ` and ${count(total - shown.length)} more`}
    </>
  );
}

/** The rows that a candidate won and lost, each a link to its trace. */
function Differing({ author: { rows } }: { author: Author }) {
  if (rows === null || rows.differing.length === 0) return null;
  const sides = [
    { name: 'Won', of: rows.differing.filter(({ before, after }) => after > before), total: rows.won },
    { name: 'Lost', of: rows.differing.filter(({ before, after }) => after < before), total: rows.lost },
  ];
  return (
    <>
      {sides.map(({ name, of, total }) =>
        of.length === 0 ? null : (
          <p key={name} class="evidence-rows">
            <span class="quiet">{name}</span>
            {of.map(({ seed, before, after, rollout_id: rollout }) => (
              <a key={rollout} href={here({ trace: rollout })} title={`${reward(before)} → ${reward(after)}`}>
                row {seed}
              </a>
            ))}
            {total > of.length && <span class="quiet">and {count(total - of.length)} more</span>}
          </p>
        ),
      )}
    </>
  );
}

function Feedback({ author: { feedback } }: { author: Author }) {
  if (feedback.length === 0) return null;
  return (
    <Fold summary="The feedback behind it">
      {() =>
        feedback.map(({ rollout_id: rollout, seed, feedback: said }) => (
          <div key={rollout} class="feedback">
            <a href={here({ trace: rollout })}>{seed === null ? 'call' : `row ${seed}`}</a>
            <pre dir="auto">{said}</pre>
          </div>
        ))
      }
    </Fold>
  );
}
