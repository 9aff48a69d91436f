/** How programs call a deployment. */
export const languages = { curl: 'curl', python: 'Python', typescript: 'TypeScript' } as const;
export type Language = keyof typeof languages;

export function callText(language: Language, origin: string, model: string): string {
  const base = `${origin}/v1`;
  switch (language) {
    case 'curl':
      return `curl ${base}/chat/completions \\
  -H "Authorization: Bearer $RATCHET_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "…"}]}'`;
    case 'python':
      return `import os
from openai import OpenAI

client = OpenAI(base_url="${base}", api_key=os.environ["RATCHET_API_KEY"])
answer = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "…"}]
)
print(answer.choices[0].message.content)`;
    case 'typescript':
      return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${base}', apiKey: process.env.RATCHET_API_KEY });
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: '…' }],
});
console.log(answer.choices[0].message.content);`;
  }
}
