import type { Client, Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { algorithmAttribute, kindAttribute, orgAttribute, statusAttribute } from '../../workflows/messages.js';

/** IndexedValueType.KEYWORD of Temporal's API. */
const keyword = 2;
const names = [orgAttribute, kindAttribute, algorithmAttribute, statusAttribute].map((attribute) => attribute.name);

/**
 * Registers the search attributes that workflows set. Where this is not allowed (Temporal Cloud, a locked cluster), prints
 * the command for an operator and goes on with those that are there only if all of them are.
 */
export async function registerSearchAttributes(client: Client, log: Logger): Promise<void> {
  const namespace = client.options.namespace;
  const { operatorService } = client.connection as Connection;
  const missing = async () => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return names.filter((name) => !(name in (customAttributes ?? {})));
  };
  const absent = await missing();
  if (absent.length === 0) return;
  try {
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(absent.map((name) => [name, keyword])),
    });
  } catch (cause) {
    // Another process may have been first.
    const still = await missing();
    if (still.length === 0) return;
    const flags = still.map((name) => `--name ${name} --type Keyword`).join(' ');
    log.error(
      `Search attributes are missing. Run: temporal operator search-attribute create --namespace ${namespace} ${flags}`,
    );
    throw new Error(`The Temporal namespace ${namespace} lacks the search attributes ${still.join(', ')}.`, { cause });
  }
}
