#pragma once
#include <security/pam_appl.h>
#include <security/pam_modules.h>
#include <security/pam_ext.h>
#include <security/pam_modutil.h>
#include <syslog.h>

/* pam_syslog takes a variable number of arguments, which Swift cannot pass. */
static inline void vault_pam_log(const pam_handle_t *pamh, int priority, const char *text) {
    pam_syslog(pamh, priority, "%s", text);
}
