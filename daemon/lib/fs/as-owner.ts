import { statSync } from 'node:fs';

/** The type definitions of Node do not include `initgroups`. */
const posix = process as NodeJS.Process & { initgroups?(user: number, extraGroup: number): void };

interface Owner {
  uid: number;
  gid: number;
}

function ownerOf(folder: string): Owner | null {
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined ? null : { uid: stats.uid, gid: stats.gid };
}

/**
 * Returns the owner whose identity root should assume. Returns null for any other user, and when root is the
 * owner.
 */
function ownerToAssume(folder: string): Owner | null {
  const owner = process.geteuid?.() === 0 ? ownerOf(folder) : null;
  return owner === null || owner.uid === 0 ? null : owner;
}

/**
 * Runs `work` as the owner of `folder` when the process is root (`sudo svcctl …` on an installed service), so
 * that new files belong to the service and no symbolic link of the service's user can redirect root. For any
 * other user it runs `work` unchanged. The identity applies to the whole process, so nothing else may run at
 * the same time.
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

/**
 * Assumes the identity of the owner of `folder` for the rest of the process when it runs as root. Returns
 * whether it did.
 */
export function becomeOwnerOf(folder: string): boolean {
  const owner = ownerToAssume(folder);
  if (owner === null) return false;
  posix.initgroups?.(owner.uid, owner.gid);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
  return true;
}
