import { Panel } from '../../ui/basics.js';
import { history } from './history.js';

/** The inputs of this tab; a click fills one in again. */
export function History({ onChoose }: { onChoose: (text: string) => void }) {
  return (
    <Panel title="Inputs of this tab">
      {history.value.length === 0 && <p class="quiet">None yet.</p>}
      <ul class="history">
        {history.value.map((text) => (
          <li key={text}>
            <button type="button" dir="auto" onClick={() => onChoose(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
