/**
 * Like Promise.all over `items`, with at most `limit` at once; the results are in the items' order. Where one fails, no
 * other begins, and those under way come to their end first: what they have paid for is recorded then.
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
  const failed = workers.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return results;
}
