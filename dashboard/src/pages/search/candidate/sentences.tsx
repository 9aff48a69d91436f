import { here } from '../../../util/router.js';
import { numberOf, type CandidateDetail } from '../../../data/search.js';

type Segment = CandidateDetail['segments'][number];

/** Each sentence of the prompt, the candidate that wrote it, and the feedback that led to it. */
export function Sentences({ candidate: { segments, is_baseline: isBaseline } }: { candidate: CandidateDetail }) {
  if (isBaseline || segments.length === 0) return null;
  const components = [...Map.groupBy(segments, ({ component }) => component)];
  return (
    <section class="part" aria-label="Who wrote what">
      <header class="panel-head">
        <h3>Who wrote what</h3>
      </header>
      {components.map(([component, parts]) => (
        <div key={component} class="prompt-part">
          <div class="prompt-part-head">
            <span class="prompt-role">{component}</span>
          </div>
          <ul class="sentences">
            {parts.map((segment, n) => (
              <Sentence key={n} segment={segment} />
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function Sentence({ segment: { text, introduced_by: author, feedback } }: { segment: Segment }) {
  const isBaseline = author.endsWith('_0');
  return (
    <li class={isBaseline ? 'sentence' : 'sentence sentence-new'}>
      <a href={here({ candidate: author })} class={isBaseline ? 'quiet' : ''}>
        {isBaseline ? 'baseline' : numberOf(author)}
      </a>
      <div>
        <span class="sentence-text" dir="auto">
          {text.trimEnd()}
        </span>
        {feedback.length > 0 && (
          <details>
            <summary>
              {feedback.length === 1 ? 'the feedback behind it' : `${feedback.length} feedbacks behind it`}
            </summary>
            {feedback.map(({ rollout_id: rollout, seed, feedback: said }) => (
              <div key={rollout} class="feedback">
                <a href={here({ trace: rollout })}>{seed === null ? 'rollout' : `row ${seed}`}</a>
                <pre dir="auto">{said}</pre>
              </div>
            ))}
          </details>
        )}
      </div>
    </li>
  );
}
