import type { z } from 'zod';
import { settingGroups } from '../../../src/service/settings.js';
import { table } from './table.js';

/** Variables that other parts read: providers, OpenTelemetry's SDK, the Python package. */
export const others: Partial<Record<keyof typeof settingGroups, [name: string, fallback: string, meaning: string][]>> =
  {
    Network: [
      [
        'RATCHET_HOME',
        'none',
        'The clone whose service the [Python package](reference/clients.md#optimize-and-evaluate) starts if none answers. Only the package reads it.',
      ],
    ],
    'Models and scorers': [
      [
        '<NAME>_API_KEY',
        'none',
        'Key of a [provider](reference/providers.md), such as `OPENAI_API_KEY`. Servers on this machine (`ollama`, `vllm`, …) need none.',
      ],
      [
        '<NAME>_BASE_URL',
        "the vendor's",
        "Another address that speaks OpenAI's API, with its query, without `/chat/completions`; the key is then optional.",
      ],
      [
        'NODE_EXTRA_CA_CERTS',
        'none',
        "File with further authorities (PEM), such as a company's; Node reads it at its start, for every TLS connection.",
      ],
      [
        'RATCHET_PROVIDERS',
        'none',
        'Names of further providers, separated by commas. `my-vllm` requires `MY_VLLM_BASE_URL` and takes `MY_VLLM_API_KEY`.',
      ],
    ],
  };

/** All variables, a table for each group. */
export function settingTables(): string {
  return Object.entries(settingGroups)
    .map(([title, group]) => {
      const rows = Object.entries(group as Record<string, z.ZodType>).map(([name, schema]) => {
        const { description, shown } = schema.meta() as { description: string; shown?: string };
        return [`\`${name}\``, shown ?? `\`${defaultOf(schema)}\``, description];
      });
      const more = (others[title as keyof typeof settingGroups] ?? []).map(([name, ...rest]) => [
        `\`${name}\``,
        ...rest,
      ]);
      return `### ${title}\n\n${table(['variable', 'default', 'meaning'], [...rows, ...more])}`;
    })
    .join('\n\n');
}

/** The default of a schema, as one writes it in the environment. */
function defaultOf(schema: z.ZodType): string {
  const definition = schema.def as { defaultValue?: unknown; in?: z.ZodType };
  if (definition.defaultValue !== undefined) return String(definition.defaultValue);
  if (definition.in) return defaultOf(definition.in);
  throw new Error('A setting without a default names what stands for it.');
}
