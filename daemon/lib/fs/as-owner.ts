import { statSync } from 'node:fs';

/** The types of Node leave this one out. */
const posix = process as NodeJS.Process & { initgroups?(user: number, extraGroup: number): void };

interface Owner {
  uid: number;
  gid: number;
}

function ownerOf(folder: string): Owner | null {
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined ? null : { uid: stats.uid, gid: stats.gid };
}

/** The owner that root should be in its place; null for anybody else, and where root is the owner. */
function ownerToAssume(folder: string): Owner | null {
  const owner = process.geteuid?.() === 0 ? ownerOf(folder) : null;
  return owner === null || owner.uid === 0 ? null : owner;
}

/**
 * Does `work` as the owner of `folder` when root asks (`sudo svcctl …` on an installed service): files that are made belong to
 * the service, and no link of the service's user leads root anywhere. For anybody else it is done as who asks. The identity is
 * that of the whole process, so nothing else may run beside it.
 */
export async function runAsOwnerOf<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const owner = ownerToAssume(folder);
  if (owner === null) return work();
  const groups = process.getgroups?.() ?? [];
  const gid = process.getegid?.() ?? 0;
  posix.initgroups?.(owner.uid, owner.gid);
  process.setegid?.(owner.gid);
  process.seteuid?.(owner.uid);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(gid);
    process.setgroups?.(groups);
  }
}

/** Becomes the owner of `folder` for the rest of this process when root runs it; answers whether it did. */
export function becomeOwnerOf(folder: string): boolean {
  const owner = ownerToAssume(folder);
  if (owner === null) return false;
  posix.initgroups?.(owner.uid, owner.gid);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
  return true;
}
