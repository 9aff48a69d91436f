/** A request as commands that send it again. The key is a variable of the shell. */
import { jobKinds } from '../../../../src/core/jobs/kinds.js';
import type { RunKind } from '../../data/kinds.js';

export const forms = { curl: 'curl', python: 'Python', cli: 'Command line', json: 'JSON' } as const;
export type Form = keyof typeof forms;

export interface Sent {
  kind: RunKind;
  jobId: string;
  request: Record<string, unknown>;
  /** Pointers of fields to send again. */
  omitted: readonly string[];
}

export function copyText(form: Form, origin: string, sent: Sent): string {
  const url = `${origin}${jobKinds[sent.kind].path}`;
  const json = JSON.stringify(sent.request, null, 2);
  const left = sent.omitted.length === 0 ? '' : `# Add what the service never returns: ${sent.omitted.join(', ')}\n`;
  switch (form) {
    case 'curl':
      // Lines of JSON have no other line that reads JSON, because strings hold no line breaks.
      return `${left}curl -sS '${url}' \\
  -H "Authorization: Bearer $RATCHET_API_KEY" \\
  -H 'Content-Type: application/json' \\
  --data-binary @- <<'JSON'
${json}
JSON`;
    case 'python':
      return `${left}import json, os, urllib.request

request = json.loads(r'''${json.replaceAll("'", '\\u0027')}''')
sent = urllib.request.Request(
    "${url}",
    data=json.dumps(request).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["RATCHET_API_KEY"],
        "Content-Type": "application/json",
    },
)
print(json.load(urllib.request.urlopen(sent))["job_id"])`;
    case 'cli':
      return `${left}export RATCHET_URL='${origin}'
ratchet clone ${sent.jobId} --patch '{}'`;
    case 'json':
      return json;
  }
}
