"use strict";
/* wasi: what a WebAssembly module of wasi-libc asks of its host: files in memory, two outputs, a clock. */

const WASI_BAD_FILE = 8, WASI_NO_ENTRY = 44, WASI_NOT_SUPPORTED = 58;
const WASI_FOLDER = 3, WASI_REGULAR = 4, WASI_CREATE = 1;
const WASI_ROOT = 3; /* the descriptor of the one folder; 1 and 2 are the outputs */

/* Returns a path from the root, without "." and "..". */
function wasiPath(path) {
  const parts = [];
  for (const part of path.split("/"))
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  return parts.join("/");
}

/* Returns an object with the imports of a module, and its outputs. files: Map from path (without a first "/") to
 * Uint8Array. memory(): the module's memory. */
function wasiHost(files, memory) {
  const outputs = { 1: [], 2: [] }, open = new Map();
  let nextDescriptor = WASI_ROOT + 1;
  const view = () => new DataView(memory().buffer);
  const bytes = (at, length) => new Uint8Array(memory().buffer, at, length);
  const nameAt = (at, length) => wasiPath(new TextDecoder().decode(bytes(at, length).slice()));
  const unsupported = () => WASI_NOT_SUPPORTED;

  function writeStat(at, kind, size) {
    bytes(at, 64).fill(0);
    view().setUint8(at + 16, kind);
    view().setBigUint64(at + 32, BigInt(size), true);
    return 0;
  }

  /* Calls each(address, length) for each of `count` buffers, until it returns less than the length. */
  function transfer(list, count, result, each) {
    let done = 0;
    for (let i = 0; i < count; i++) {
      const at = view().getUint32(list + 8 * i, true), length = view().getUint32(list + 8 * i + 4, true);
      const moved = each(at, length);
      done += moved;
      if (moved < length) break;
    }
    view().setUint32(result, done, true);
    return 0;
  }

  const imports = {
    args_sizes_get(count, size) { view().setUint32(count, 0, true); view().setUint32(size, 0, true); return 0; },
    args_get: () => 0,
    environ_sizes_get(count, size) { view().setUint32(count, 0, true); view().setUint32(size, 0, true); return 0; },
    environ_get: () => 0,
    clock_time_get(clock, precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    proc_exit(status) { throw new Error("the engine has ended with status " + status); },
    fd_prestat_get(fd, at) {
      if (fd !== WASI_ROOT) return WASI_BAD_FILE;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name(fd, at) { bytes(at, 1)[0] = 0x2f; return 0; },
    fd_fdstat_get(fd, at) {
      bytes(at, 24).fill(0);
      view().setUint8(at, fd < WASI_ROOT ? 2 : fd === WASI_ROOT ? WASI_FOLDER : WASI_REGULAR);
      view().setBigUint64(at + 8, 0xffffffffffffffffn, true);
      view().setBigUint64(at + 16, 0xffffffffffffffffn, true);
      return 0;
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get(fd, at) {
      const file = open.get(fd);
      return fd < WASI_ROOT ? writeStat(at, 2, 0) : file ? writeStat(at, WASI_REGULAR, file.bytes.length)
        : fd === WASI_ROOT ? writeStat(at, WASI_FOLDER, 0) : WASI_BAD_FILE;
    },
    path_filestat_get(fd, flags, at, length, result) {
      const found = files.get(nameAt(at, length));
      return found ? writeStat(result, WASI_REGULAR, found.length) : WASI_NO_ENTRY;
    },
    path_open(fd, lookup, at, length, flags, rights, inheriting, fdFlags, result) {
      const name = nameAt(at, length);
      if (flags & WASI_CREATE) files.set(name, new Uint8Array(0));
      if (!files.has(name)) return WASI_NO_ENTRY;
      open.set(nextDescriptor, { name, bytes: files.get(name), at: 0 });
      view().setUint32(result, nextDescriptor++, true);
      return 0;
    },
    fd_close(fd) { open.delete(fd); return 0; },
    fd_read(fd, list, count, result) {
      const file = open.get(fd);
      if (!file) return WASI_BAD_FILE;
      return transfer(list, count, result, (at, length) => {
        const part = file.bytes.subarray(file.at, file.at + length);
        bytes(at, length).set(part);
        file.at += part.length;
        return part.length;
      });
    },
    fd_write(fd, list, count, result) {
      const file = open.get(fd);
      if (!outputs[fd] && !file) return WASI_BAD_FILE;
      return transfer(list, count, result, (at, length) => {
        const part = bytes(at, length).slice();
        if (outputs[fd]) {
          outputs[fd].push(part);
        } else {
          const grown = new Uint8Array(file.bytes.length + length);
          grown.set(file.bytes);
          grown.set(part, file.bytes.length);
          files.set(file.name, file.bytes = grown);
        }
        return length;
      });
    },
    fd_seek(fd, offset, whence, result) {
      const file = open.get(fd);
      if (!file) return WASI_BAD_FILE;
      file.at = Number(offset) + (whence === 1 ? file.at : whence === 2 ? file.bytes.length : 0);
      view().setBigUint64(result, BigInt(file.at), true);
      return 0;
    },
    poll_oneoff: unsupported, fd_readdir: unsupported, path_create_directory: unsupported, random_get: unsupported,
    path_unlink_file: unsupported, path_remove_directory: unsupported, path_rename: unsupported, sched_yield: () => 0,
    fd_pread: unsupported, fd_tell: unsupported, clock_res_get: unsupported, path_readlink: unsupported,
    fd_filestat_set_size: unsupported,
  };
  /* Returns what has been written to an output since the last call. */
  function take(fd) {
    const parts = outputs[fd], whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) { whole.set(part, at); at += part.length; }
    outputs[fd] = [];
    return new TextDecoder().decode(whole);
  }
  return { imports, take };
}

if (typeof module !== "undefined") module.exports = { wasiHost };
