/**
 * Like Promise.all over `items`, with at most `limit` at once. After a failure it starts no other
 * item and rejects once those in progress have ended, so that paid model calls are recorded.
 */
export async function mapLimited<In, Out>(
  items: In[],
  limit: number,
  work: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const results = new Array<Out>(items.length);
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) {
      results[i] = await work(items[i]!).catch((error: unknown) => {
        next = items.length;
        throw error;
      });
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, worker));
  const failed = workers.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
  return results;
}
