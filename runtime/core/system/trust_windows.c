/* SPDX-License-Identifier: MIT */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#define WIN32_LEAN_AND_MEAN
#include "core/system/system_windows.h"

#include <errno.h>

#include <aclapi.h>
#include <sddl.h>

#define SID_TEXT_SIZE 192

/* Rights that let somebody change the contents of a file or folder, or gain that right. */
#define CHANGES                                                                         \
    (FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | WRITE_DAC | WRITE_OWNER | \
     GENERIC_WRITE | GENERIC_ALL)

union token_user {
    TOKEN_USER user;
    BYTE bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
};

static int find_user(union token_user *user) {
    HANDLE token = NULL;
    DWORD size = 0;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
        return weft_windows_last_error();
    }
    const int error = GetTokenInformation(token, TokenUser, user, sizeof *user, &size)
                          ? 0
                          : weft_windows_last_error();
    CloseHandle(token);
    return error;
}

int weft_windows_private_attributes(SECURITY_ATTRIBUTES *attributes) {
    union token_user user;
    wchar_t *sid = NULL, text[2 * SID_TEXT_SIZE];
    *attributes = (SECURITY_ATTRIBUTES){.nLength = sizeof *attributes};
    const int error = find_user(&user);
    if (error != 0) {
        return error;
    }
    if (!ConvertSidToStringSidW(user.user.User.Sid, &sid)) {
        return weft_windows_last_error();
    }
    /* Nothing from the folder above; for what is made in it, too: all for the user, SYSTEM and Administrators. */
    const int length = swprintf(text, 2 * SID_TEXT_SIZE,
                                L"D:P(A;OICI;FA;;;%ls)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", sid);
    LocalFree(sid);
    return length > 0 && ConvertStringSecurityDescriptorToSecurityDescriptorW(
                             text, SDDL_REVISION_1, &attributes->lpSecurityDescriptor, NULL)
               ? 0
               : weft_windows_last_error();
}

void weft_windows_free_attributes(SECURITY_ATTRIBUTES *attributes) {
    LocalFree(attributes->lpSecurityDescriptor);
}

static void tell_sid(char text[SID_TEXT_SIZE], PSID sid) {
    char *name = NULL;
    const bool told = ConvertSidToStringSidA(sid, &name);
    snprintf(text, SID_TEXT_SIZE, "%s", told ? name : "an unknown user");
    if (told) {
        LocalFree(name);
    }
}

static bool is_trusted(PSID sid, PSID user) {
    return EqualSid(sid, user) || IsWellKnownSid(sid, WinLocalSystemSid) ||
           IsWellKnownSid(sid, WinBuiltinAdministratorsSid);
}

static int check_owner(PSID owner, PSID user, char distrust[WEFT_DISTRUST_SIZE]) {
    char found[SID_TEXT_SIZE], expected[SID_TEXT_SIZE];
    if (owner && is_trusted(owner, user)) {
        return 0;
    }
    tell_sid(found, owner);
    tell_sid(expected, user);
    snprintf(distrust, WEFT_DISTRUST_SIZE, "it belongs to %.90s; expected %.90s, the current user",
             found, expected);
    return EPERM;
}

/* Whose right the entry of the list is, where it lets somebody change something; else null. */
static PSID who_may_change(const ACE_HEADER *header, bool *known) {
    /* Those with a condition begin as those without. */
    const ACCESS_ALLOWED_ACE *entry = (const ACCESS_ALLOWED_ACE *)(const void *)header;
    const bool allows = header->AceType == ACCESS_ALLOWED_ACE_TYPE ||
                        header->AceType == ACCESS_ALLOWED_CALLBACK_ACE_TYPE;
    *known = allows || header->AceType == ACCESS_DENIED_ACE_TYPE ||
             header->AceType == ACCESS_DENIED_CALLBACK_ACE_TYPE;
    return allows && (header->AceFlags & INHERIT_ONLY_ACE) == 0 && (entry->Mask & CHANGES) != 0
               ? (PSID)(uintptr_t)&entry->SidStart
               : NULL;
}

static int check_list(PACL list, PSID user, char distrust[WEFT_DISTRUST_SIZE]) {
    if (!list) {
        snprintf(distrust, WEFT_DISTRUST_SIZE, "everybody may write to it: it has no access list");
        return EPERM;
    }
    for (DWORD i = 0; i < list->AceCount; i++) {
        void *entry = NULL;
        char found[SID_TEXT_SIZE];
        bool known = false;
        if (!GetAce(list, i, &entry)) {
            return weft_windows_last_error();
        }
        PSID sid = who_may_change(entry, &known);
        /* That of OWNER RIGHTS is the owner's, who is trusted. */
        if (known &&
            (!sid || is_trusted(sid, user) || IsWellKnownSid(sid, WinCreatorOwnerRightsSid))) {
            continue;
        }
        if (sid) {
            tell_sid(found, sid);
        }
        snprintf(distrust, WEFT_DISTRUST_SIZE,
                 "%.180s may write to it; expected only this user, SYSTEM and Administrators",
                 sid ? found : "its access list has an entry of an unknown kind");
        return EPERM;
    }
    return 0;
}

int weft_windows_check_trust(HANDLE handle, char distrust[WEFT_DISTRUST_SIZE]) {
    union token_user user;
    PSID owner = NULL;
    PACL list = NULL;
    PSECURITY_DESCRIPTOR descriptor = NULL;
    int error = find_user(&user);
    if (error != 0) {
        return error;
    }
    if (GetSecurityInfo(handle, SE_FILE_OBJECT,
                        OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner, NULL, &list,
                        NULL, &descriptor) != ERROR_SUCCESS) {
        snprintf(distrust, WEFT_DISTRUST_SIZE, "its owner is unknown");
        return EPERM;
    }
    error = check_owner(owner, user.user.User.Sid, distrust);
    error = error != 0 ? error : check_list(list, user.user.User.Sid, distrust);
    LocalFree(descriptor);
    return error;
}
