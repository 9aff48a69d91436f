import { count, dollars, reward } from '../../../util/format.js';
import { here } from '../../../util/router.js';
import { Badge } from '../../../ui/basics.js';
import { Fold } from '../../../ui/fold.js';
import type { CandidateDetail } from '../../../data/search.js';
import { numbers, Table } from '../../../ui/table.js';

type Reflection = NonNullable<CandidateDetail['reflection']>;
type Attempt = Reflection['attempts'][number];

/** How a model wrote the candidate: what it was shown, and each of its answers. */
export function ReflectionView({ candidate: { reflection } }: { candidate: CandidateDetail }) {
  if (reflection === null) return null;
  const { examples, attempts, messages, output } = reflection;
  return (
    <section class="part" aria-label="Reflection">
      <header class="panel-head">
        <h3>Reflection</h3>
        <span class="quiet">
          {[reflection.provider, reflection.model].filter(Boolean).join('/')} rewrote {reflection.components.join(', ')}
        </span>
      </header>
      {examples.length > 0 && <Examples examples={examples} />}
      {attempts.map((attempt) => (
        <AttemptView key={`${attempt.component} ${attempt.attempt}`} attempt={attempt} />
      ))}
      {attempts.length === 0 && <Talk messages={messages} output={output} />}
    </section>
  );
}

function Examples({ examples }: { examples: Reflection['examples'] }) {
  return (
    <Table label="Examples" heads={[numbers('Row'), numbers('Reward'), 'Feedback']}>
      {examples.map(({ rollout_id: rollout, seed, reward: value, feedback }) => (
        <tr key={rollout}>
          <td class="number">
            <a href={here({ trace: rollout })}>{seed ?? 'trace'}</a>
          </td>
          <td class="number">{reward(value)}</td>
          <td>
            <pre>{feedback}</pre>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function AttemptView({ attempt }: { attempt: Attempt }) {
  const { prompt_tokens: asked, completion_tokens: answered } = attempt;
  const tokens = asked === null || answered === null ? null : asked + answered;
  return (
    <Fold
      class="attempt"
      summary={
        <>
          {attempt.component}, attempt {attempt.attempt + 1}{' '}
          <Badge status={attempt.accepted ? 'accepted' : 'rejected'} />{' '}
          <span class="quiet">
            {count(tokens)} tokens, {dollars(attempt.cost_usd)}
          </span>
        </>
      }
    >
      {() => (
        <>
          {attempt.reason && <p class="problem">{attempt.reason}</p>}
          <Talk messages={attempt.messages} output={attempt.output} />
        </>
      )}
    </Fold>
  );
}

function Talk({ messages, output }: { messages: Reflection['messages']; output: string | null }) {
  const all = [...messages, ...(output === null ? [] : [{ role: 'answer', content: output }])];
  return (
    <div class="prompt">
      {all.map(({ role, content }, n) => (
        <div key={n} class="prompt-part">
          <div class="prompt-part-head">
            <span class="prompt-role">{role}</span>
          </div>
          <pre class="prompt-text">{content}</pre>
        </div>
      ))}
    </div>
  );
}
