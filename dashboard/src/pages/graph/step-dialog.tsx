import { stepPrompt, type Step } from '../../../../src/core/graphs/graph.js';
import { Badge } from '../../ui/basics.js';
import { Dialog } from '../../ui/dialog.js';
import { MarkedText } from '../../ui/changes/marked.js';
import { Prompt } from '../../ui/prompt.js';
import type { StepChange } from './changes.js';
import { settingsOf } from './step-text.js';

/** All of a step; of a changed one, what changed. */
export function StepDialog(props: StepChange & { model: string; onClose: () => void }) {
  const { change, before, after, model, onClose } = props;
  const step = (after ?? before)!;
  const earlier = change === 'changed' ? before : null;
  const messages = stepPrompt(step)?.messages ?? [];
  const was = earlier && stepPrompt(earlier);
  return (
    <Dialog title={`Step ${step.id}`} onClose={onClose} wide>
      {change !== 'same' && (
        <p>
          <Badge status={change} />
        </p>
      )}
      <Settings step={step} earlier={earlier} model={model} />
      {messages.length > 0 && <Prompt messages={[...messages]} before={was && [...was.messages]} />}
    </Dialog>
  );
}

function Settings({ step, earlier, model }: { step: Step; earlier: Step | null; model: string }) {
  const now = settingsOf(step, model);
  const was = earlier && settingsOf(earlier, model);
  const names = [...new Set([...now.keys(), ...(was?.keys() ?? [])])];
  return (
    <dl class="facts graph-settings">
      {names.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {was === null || was.get(name) === now.get(name) ? (
              <pre>{now.get(name)}</pre>
            ) : (
              <MarkedText before={was.get(name) ?? ''} after={now.get(name) ?? ''} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
