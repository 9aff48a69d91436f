import { hasSeveral, rowsText } from '../../../../../src/core/prompts/changes/report.js';
import type { Author } from '../../../data/changes.js';
import { numberOf } from '../../../data/search.js';
import { Fold } from '../../../ui/fold.js';
import { count, reward } from '../../../util/format.js';
import { here } from '../../../util/router.js';

/** Who made an edit and, if its author made no other, what speaks for it. */
export function EditAuthor({ author, isRemoval }: { author: Author; isRemoval: boolean }) {
  if (!hasSeveral(author)) return <Evidence author={author} isRemoval={isRemoval} />;
  return (
    <div class="evidence">
      <p class="quiet">
        {isRemoval && 'removed by '}
        <Name author={author} />, one of its {author.num_edits} edits
      </p>
    </div>
  );
}

/** What speaks for authors with several edits: once for all edits of each. */
export function Together({ authors }: { authors: readonly Author[] }) {
  const several = authors.filter(hasSeveral);
  if (several.length === 0) return null;
  return (
    <section aria-label="Edits made together">
      <h3>Edits made together</h3>
      <ul class="together">
        {several.map((author) => (
          <li key={author.candidate_id}>
            <Evidence author={author} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What speaks for all edits of a candidate: its feedback, and the rows that it won and lost. */
export function Evidence({ author, isRemoval = false }: { author: Author; isRemoval?: boolean }) {
  const rows = rowsText(author.rows);
  return (
    <div class="evidence">
      <p class="quiet">
        {isRemoval && 'removed by '}
        <Name author={author} />
        {hasSeveral(author) && `: ${author.num_edits} edits together`}
        {author.is_given && ', by a person'}
        <FeedbackRows author={author} />
        {rows !== null && (
          <>
            {'; '}
            <span title="Rows won and lost against its parent">{rows}</span>
          </>
        )}
      </p>
      <Differing author={author} />
      <Feedback author={author} />
    </div>
  );
}

function Name({ author: { candidate_id: id, is_baseline: isBaseline } }: { author: Author }) {
  return isBaseline ? <>baseline</> : <a href={here({ candidate: id })}>{numberOf(id)}</a>;
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
