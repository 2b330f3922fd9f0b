// One file, so that the package is built and installed once for all of these.
import './package/tarball.js';
import './package/command.js';
import './package/workers.js';
import './package/guides.js';
import './package/bundles.js';
import './package/production.js';
