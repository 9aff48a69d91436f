import { useState } from 'preact/hooks';
import { Panel } from '../../../ui/basics.js';
import { Copy } from '../../../ui/copy.js';
import { callText, languages, type Language } from './calls.js';

/** How to call what a name serves. */
export function CallPanel({ name }: { name: string }) {
  const [language, setLanguage] = useState<Language>('curl');
  const text = callText(language, location.origin, name);
  return (
    <Panel
      title="Call it"
      aside={
        <div class="actions">
          <select
            aria-label="Language"
            value={language}
            onChange={(event) => setLanguage(event.currentTarget.value as Language)}
          >
            {Object.entries(languages).map(([key, label]) => (
              <option key={key} value={key}>
                {label}
              </option>
            ))}
          </select>
          <Copy text={text} />
        </div>
      }
    >
      <pre>{text}</pre>
      <p class="quiet">
        <code>RATCHET_API_KEY</code> is a key with the scope infer, as the first one of the service is. One that may do
        nothing else: <code>ratchet keys create NAME --scope infer</code>
      </p>
    </Panel>
  );
}
