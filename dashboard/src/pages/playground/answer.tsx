import { count, dollars, milliseconds, shortId } from '../../util/format.js';
import { pageOf } from '../../util/router.js';
import { Panel, Problem } from '../../ui/basics.js';
import { Copy } from '../../ui/copy.js';
import { PromptLinks } from '../job/candidate-links.js';
import type { AskedAnswer } from './ask.js';
import type { Served } from './data.js';

/** What a deployment answers, as it comes, and what else can be done with its prompt. */
export function AnswerPanel(props: { title: string; served: Served | undefined; answer: AskedAnswer | undefined }) {
  const { title, served, answer = null } = props;
  const isRunning = answer !== null && answer.totalMs === null;
  return (
    <Panel title={title} aside={answer?.text ? <Copy text={answer.text} /> : null}>
      <div class="answer" aria-live="polite" aria-busy={isRunning}>
        {answer === null && <p class="quiet">No answer yet.</p>}
        {isRunning && answer.text === '' && <p class="quiet">Waiting …</p>}
        {answer && answer.text !== '' && <pre dir="auto">{answer.text}</pre>}
        {answer && <Problem error={answer.error} />}
      </div>
      {answer && <Figures answer={answer} />}
      {served?.snapshot?.kind === 'messages' && (
        <PromptLinks id={served.deployment.id} candidateId={null} again="Optimize it" />
      )}
    </Panel>
  );
}

function Figures({ answer }: { answer: AskedAnswer }) {
  const { firstMs, totalMs, promptTokens, completionTokens, costUsd, model, finishReason, deploymentId } = answer;
  const figures: [string, string | null][] = [
    ['First token', firstMs === null ? null : milliseconds(firstMs)],
    ['Total', totalMs === null ? null : milliseconds(totalMs)],
    ['Tokens in', promptTokens === null ? null : count(promptTokens)],
    ['Tokens out', completionTokens === null ? null : count(completionTokens)],
    ['Cost', costUsd === null ? null : dollars(costUsd)],
    ['Model', model],
    ['Ended by', finishReason === 'stop' ? null : finishReason],
  ];
  return (
    <dl class="figures">
      {figures.map(
        ([name, text]) =>
          text !== null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ),
      )}
      {deploymentId && (
        <div>
          <dt>Version</dt>
          <dd>
            <a class="mono" href={pageOf(deploymentId)}>
              {shortId(deploymentId)}
            </a>
          </dd>
        </div>
      )}
    </dl>
  );
}
